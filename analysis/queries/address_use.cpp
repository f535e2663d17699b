#include "analysis/queries/address_use.h"

#include <algorithm>

namespace kernelskill::analysis {

bool isAddressAsNumber(const FunctionBody& body, ExprId id) {
    const Expr& expr = body.expr(id);
    const bool isNumber = expr.type.pointerDepth == 0 && expr.type.scalar >= ScalarKind::Int32 &&
                          expr.type.scalar <= ScalarKind::UInt64;
    return expr.kind == ExprKind::Cast && isNumber &&
           std::ranges::any_of(
               expr.children, [&](ExprId child) { return body.expr(child).type.pointerDepth > 0; });
}

} // namespace kernelskill::analysis
