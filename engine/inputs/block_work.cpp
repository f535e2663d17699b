#include "engine/inputs/block_work.h"

#include "analysis/model/dependence.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

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

bool loopsOverGrid(const analysis::KernelModel& kernel) {
    const analysis::FunctionBody& body = kernel.body;
    const auto isGridSize = [&](const analysis::Expr& expr) {
        const bool isMethod = expr.kind == analysis::ExprKind::Call && expr.isMethod &&
                              (expr.name == "size" || expr.name == "num_threads");
        return (expr.kind == analysis::ExprKind::BuiltinIndex && expr.name == "gridDim") ||
               (isMethod && body.expr(expr.children.at(0)).type.canonical.contains("grid_group"));
    };
    return std::ranges::any_of(body.stmts, [&](const analysis::Stmt& stmt) {
        if (stmt.kind != analysis::StmtKind::For || stmt.increment == analysis::noId)
            return false;
        const analysis::Expr& step = body.expr(stmt.increment);
        if (!analysis::isAssignment(step) || step.children.size() != 2)
            return false;
        std::vector<analysis::ExprId> pending{step.children[1]};
        std::set<analysis::VariableId> seen;
        while (!pending.empty()) {
            const analysis::Expr& expr = body.expr(pending.back());
            pending.pop_back();
            if (isGridSize(expr))
                return true;
            pending.insert(pending.end(), expr.children.begin(), expr.children.end());
            // A stride that was computed before.
            if (expr.kind == analysis::ExprKind::Variable && expr.variable != analysis::noId &&
                seen.insert(expr.variable).second &&
                body.variable(expr.variable).init != analysis::noId)
                pending.push_back(body.variable(expr.variable).init);
        }
        return false;
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
