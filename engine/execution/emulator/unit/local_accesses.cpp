#include "engine/execution/emulator/unit/local_accesses.h"

#include "analysis/model/dependence.h"
#include "analysis/source/source_text.h"

#include <algorithm>
#include <filesystem>

namespace kernelskill::engine {
namespace {

using analysis::noId;

bool isOwnElement(const analysis::FunctionBody& body, const analysis::Expr& expr) {
    if (expr.kind != analysis::ExprKind::Subscript ||
        body.expr(expr.children.front()).type.arrayExtents.empty())
        return false;
    const auto root = analysis::rootVariable(body, expr.children.front());
    return root != noId && body.variable(root).storage == analysis::Storage::Local &&
           body.variable(root).type.pointerDepth == 0 && !body.variable(root).type.isReference;
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

} // namespace kernelskill::engine
