#include "skills/rewriting/standard_swap.h"

#include <string>

namespace kernelskill::skills {

bool isStandardSwap(const analysis::SourceText& source, const analysis::Expr& expr) {
    if (expr.kind != analysis::ExprKind::Call || expr.isMethod || expr.children.size() != 2)
        return false;
    const std::string& text = source.text();
    return expr.name == "std::swap" ||
           (expr.name == "swap" &&
            (text.contains("using namespace std;") || text.contains("using std::swap;")));
}

} // namespace kernelskill::skills
