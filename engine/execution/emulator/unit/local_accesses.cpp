#include "engine/execution/emulator/unit/local_accesses.h"

#include "analysis/model/dependence.h"
#include "analysis/source/source_text.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::noId;

/// Whether the place that `expr` names is in a variable of the function, and not behind a pointer.
bool isOwn(const analysis::FunctionBody& body, analysis::ExprId expr) {
    const auto root = analysis::rootVariable(body, expr);
    return root != noId && body.variable(root).storage == analysis::Storage::Local &&
           body.variable(root).type.pointerDepth == 0 && !body.variable(root).type.isReference;
}

bool isOwnElement(const analysis::FunctionBody& body, const analysis::Expr& expr) {
    return expr.kind == analysis::ExprKind::Subscript &&
           !body.expr(expr.children.front()).type.arrayExtents.empty() &&
           isOwn(body, expr.children.front());
}

/// The variables whose arrays the function uses as pointers: `p = a`, `sort(a)`, `&a[1]`.
std::set<analysis::VariableId> pointedIn(const analysis::FunctionBody& body) {
    std::set<analysis::VariableId> pointed;
    std::vector<bool> isSubscripted(body.exprs.size());
    for (const analysis::Expr& expr : body.exprs)
        if (expr.kind == analysis::ExprKind::Subscript)
            isSubscripted[expr.children.front()] = true;
    for (analysis::ExprId id = 0; id < body.exprs.size(); ++id) {
        const analysis::Expr& expr = body.expr(id);
        const bool isArray = !expr.type.arrayExtents.empty() && !isSubscripted[id];
        const bool isAddress = expr.kind == analysis::ExprKind::Unary && expr.op == "&" &&
                               !expr.children.empty() &&
                               isOwnElement(body, body.expr(expr.children.front()));
        if ((isArray && isOwn(body, id)) || isAddress)
            pointed.insert(analysis::rootVariable(body, isAddress ? expr.children.front() : id));
    }
    return pointed;
}

} // namespace

FileLines localAccesses(KernelRef kernel, const ScannedProgram& program) {
    FileLines lines;
    const auto& model = kernel.file();
    for (const auto* functions : {&model.kernels, &model.deviceFunctions}) {
        for (const analysis::KernelModel& function : *functions) {
            const auto file =
                std::ranges::find(program.files(), std::filesystem::path(function.file),
                                  [](const auto& one) { return one.source.path; });
            if (file == program.files().end())
                continue;
            const analysis::SourceText text(file->source.text);
            for (const analysis::Expr& expr : function.body.exprs)
                if (isOwnElement(function.body, expr))
                    lines.insert(
                        {file->source.path.string(), text.lineColumn(expr.span.begin).line + 1});
        }
    }
    return lines;
}

DeclaredNames pointedArrays(KernelRef kernel, const ScannedProgram::File& file) {
    DeclaredNames names;
    const analysis::SourceText text(file.source.text);
    const auto& model = kernel.file();
    for (const auto* functions : {&model.kernels, &model.deviceFunctions})
        for (const analysis::KernelModel& function : *functions) {
            if (std::filesystem::path(function.file) != file.source.path)
                continue;
            for (const analysis::VariableId id : pointedIn(function.body)) {
                const analysis::Variable& variable = function.body.variable(id);
                if (!variable.type.arrayExtents.empty())
                    names.insert({text.lineColumn(variable.span.begin).line + 1, variable.name});
            }
        }
    return names;
}

bool pointsIntoLocals(KernelRef kernel) {
    const auto points = [](const analysis::KernelModel& function) {
        return !pointedIn(function.body).empty();
    };
    return std::ranges::any_of(kernel.file().kernels, points) ||
           std::ranges::any_of(kernel.file().deviceFunctions, points);
}

} // namespace kernelskill::engine
