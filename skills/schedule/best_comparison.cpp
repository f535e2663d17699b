#include "skills/schedule/best_comparison.h"

#include <algorithm>
#include <cstddef>

namespace kernelskill::skills {

using namespace analysis;

std::optional<BestComparison> bestComparison(const CodeMap& code, ExprId condition,
                                             StmtId statement) {
    const Expr& expr = code.body().expr(code.withoutCasts(condition));
    if (expr.kind != ExprKind::Binary ||
        (expr.op != ">" && expr.op != "<" && expr.op != ">=" && expr.op != "<="))
        return std::nullopt;
    std::optional<BestComparison> found;
    for (const std::size_t side : {0, 1}) {
        const VariableId named = code.namedVariable(expr.children[side]);
        if (named == noId || std::ranges::none_of(code.uses(named), [&](ExprId use) {
                return code.isWrite(use) && code.holds(statement, use);
            }))
            continue;
        found = BestComparison{named, expr.children[1 - side], expr.op};
        if (side == 0)
            found->comparison.front() = expr.op.front() == '<' ? '>' : '<';
    }
    return found;
}

bool isUsedInAlone(const CodeMap& code, StmtId loop, const std::vector<StmtId>& statements,
                   VariableId variable) {
    const StmtId declaration = code.declarationOf(variable);
    return declaration != noId && !code.encloses(loop, declaration) &&
           std::ranges::all_of(code.uses(variable), [&](ExprId use) {
               return !code.holds(loop, use) ||
                      std::ranges::any_of(
                          statements, [&](StmtId statement) { return code.holds(statement, use); });
           });
}

} // namespace kernelskill::skills
