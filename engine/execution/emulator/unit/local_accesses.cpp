#include "engine/execution/emulator/unit/local_accesses.h"

#include "analysis/model/dependence.h"
#include "analysis/source/source_text.h"

#include <algorithm>
#include <filesystem>
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

bool pointsIntoLocals(const analysis::FunctionBody& body) {
    std::vector<bool> isSubscripted(body.exprs.size());
    for (const analysis::Expr& expr : body.exprs)
        if (expr.kind == analysis::ExprKind::Subscript)
            isSubscripted[expr.children.front()] = true;
    for (analysis::ExprId id = 0; id < body.exprs.size(); ++id) {
        const analysis::Expr& expr = body.expr(id);
        const bool isArray = !expr.type.arrayExtents.empty() && !isSubscripted[id];
        if (isArray && isOwn(body, id))
            return true;
        if (expr.kind == analysis::ExprKind::Unary && expr.op == "&" && !expr.children.empty() &&
            isOwnElement(body, body.expr(expr.children.front())))
            return true;
    }
    return false;
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

bool pointsIntoLocals(KernelRef kernel) {
    const auto points = [](const analysis::KernelModel& function) {
        return pointsIntoLocals(function.body);
    };
    return std::ranges::any_of(kernel.file().kernels, points) ||
           std::ranges::any_of(kernel.file().deviceFunctions, points);
}

} // namespace kernelskill::engine
