#include "engine/inputs/block_work.h"

#include <algorithm>
#include <string_view>

namespace kernelskill::engine {

bool followsGrid(const analysis::KernelModel& kernel) {
    const auto isBuiltin = [&](analysis::ExprId id, std::string_view name) {
        const analysis::Expr& expr = kernel.body.expr(id);
        return expr.kind == analysis::ExprKind::BuiltinIndex && expr.name == name;
    };
    return !kernel.calls.empty() ||
           std::ranges::any_of(kernel.body.exprs, [&](const analysis::Expr& expr) {
               if (expr.kind == analysis::ExprKind::BuiltinIndex)
                   return expr.name == "gridDim";
               const auto has = [&](std::string_view name) {
                   return std::ranges::any_of(expr.children, [&](analysis::ExprId child) {
                       return isBuiltin(child, name);
                   });
               };
               return expr.op == "*" && has("blockIdx") &&
                      (has("blockDim") || std::ranges::any_of(expr.children, [&](auto child) {
                           return kernel.body.expr(child).kind == analysis::ExprKind::Integer;
                       }));
           });
}

bool hasIndependentThreads(KernelInFile subject) {
    const auto meet = [](const analysis::KernelModel& function) {
        return !function.barriers.empty() || !function.warpOperations.empty() ||
               !function.sharedArrays.empty();
    };
    return !meet(subject.kernel) &&
           std::ranges::none_of(
               subject.file.deviceFunctions, [&](const analysis::KernelModel& function) {
                   return std::ranges::find(subject.kernel.calls, function.qualifiedName) !=
                              subject.kernel.calls.end() &&
                          meet(function);
               });
}

} // namespace kernelskill::engine
