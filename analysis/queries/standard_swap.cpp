#include "analysis/queries/standard_swap.h"

#include <string>

namespace kernelskill::analysis {

bool isStandardSwap(const SourceText& source, const Expr& expr) {
    if (expr.kind != ExprKind::Call || expr.isMethod || expr.children.size() != 2)
        return false;
    const std::string& text = source.text();
    return expr.name == "std::swap" ||
           (expr.name == "swap" &&
            (text.contains("using namespace std;") || text.contains("using std::swap;")));
}

} // namespace kernelskill::analysis
