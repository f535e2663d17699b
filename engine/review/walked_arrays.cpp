#include "engine/review/walked_arrays.h"

#include "analysis/queries/code_map.h"
#include "engine/review/kernel_code.h"

#include <algorithm>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::noId;
using analysis::VariableId;

/// The local array that a pointer's value leads into; noId if it does not.
VariableId ownArray(const analysis::CodeMap& code, ExprId pointer) {
    const analysis::FunctionBody& body = code.body();
    const Expr& expr = body.expr(code.withoutCasts(pointer));
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        const analysis::Variable& variable = body.variable(expr.variable);
        const bool isOwn = variable.storage == analysis::Storage::Local &&
                           variable.type.pointerDepth == 0 && !variable.type.arrayExtents.empty();
        return isOwn ? expr.variable : noId;
    }
    const bool isPath = expr.kind == ExprKind::Subscript || expr.kind == ExprKind::Member ||
                        (expr.kind == ExprKind::Unary && expr.op == "&");
    if (isPath && !expr.children.empty())
        return ownArray(code, expr.children.front());
    if (expr.kind != ExprKind::Binary || (expr.op != "+" && expr.op != "-"))
        return noId;
    const VariableId left = ownArray(code, expr.children[0]);
    return left != noId ? left : ownArray(code, expr.children[1]);
}

bool isStep(const Expr& expr) {
    return (expr.kind == ExprKind::Unary && (expr.op.contains("++") || expr.op.contains("--"))) ||
           (expr.kind == ExprKind::Binary && (expr.op == "+=" || expr.op == "-="));
}

/// Whether the variable is changed by a step from where it is.
bool isStepped(const analysis::CodeMap& code, VariableId pointer) {
    return std::ranges::any_of(code.body().exprs, [&](const Expr& expr) {
        if (expr.children.empty() || code.namedVariable(expr.children.front()) != pointer)
            return false;
        if (isStep(expr))
            return true;
        const bool isSet = expr.kind == ExprKind::Binary && expr.op == "=";
        const auto used = isSet ? code.expressionsBelow(expr.children[1]) : std::vector<ExprId>();
        return std::ranges::any_of(
            used, [&](ExprId id) { return code.body().expr(id).variable == pointer; });
    });
}

} // namespace

std::vector<WalkedArray> walkedArrays(const analysis::FileModel& file,
                                      const analysis::KernelModel& kernel) {
    std::vector<WalkedArray> found;
    for (const analysis::KernelModel* function : codeOf(file, kernel)) {
        const analysis::CodeMap code(function->body);
        for (VariableId id = 0; id < function->body.variables.size(); ++id) {
            const analysis::Variable& variable = function->body.variable(id);
            if (function->file != file.file || variable.type.pointerDepth == 0 ||
                variable.storage != analysis::Storage::Local || !isStepped(code, id))
                continue;
            VariableId array = variable.init == noId ? noId : ownArray(code, variable.init);
            for (const Expr& expr : function->body.exprs)
                if (array == noId && expr.kind == ExprKind::Binary && expr.op == "=" &&
                    code.namedVariable(expr.children[0]) == id)
                    array = ownArray(code, expr.children[1]);
            if (array != noId)
                found.push_back({variable.name, function->body.variable(array).name,
                                 file.source->lineColumn(variable.span.begin).line + 1});
        }
    }
    return found;
}

} // namespace kernelskill::engine
