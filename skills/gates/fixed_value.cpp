#include "skills/gates/fixed_value.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

bool isFixedValue(const CodeMap& code, ExprId value) {
    return std::ranges::all_of(code.expressionsBelow(value), [&](ExprId id) {
        const Expr& expr = code.body().expr(id);
        switch (expr.kind) {
        case ExprKind::Variable:
            return expr.variable == noId || !code.isEverWritten(expr.variable);
        case ExprKind::Integer:
        case ExprKind::Floating:
        case ExprKind::BuiltinIndex:
        case ExprKind::Cast:
            return true;
        case ExprKind::Unary:
            return expr.op == "-" || expr.op == "+" || expr.op == "!" || expr.op == "~";
        case ExprKind::Binary:
            return !isAssignment(expr.op);
        default:
            return false;
        }
    });
}

} // namespace kernelskill::skills
