#include "engine/review/smaller_arrays.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/value_range.h"
#include "engine/review/kernel_code.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::KernelModel;
using analysis::noId;
using analysis::Variable;
using analysis::VariableId;

/// The number of elements; nullopt for what is no array of a thread's own of a known size.
std::optional<std::int64_t> elementsOf(const Variable& variable) {
    const auto& extents = variable.type.arrayExtents;
    if (variable.storage != analysis::Storage::Local || variable.type.pointerDepth != 0 ||
        variable.type.isReference || extents.empty() ||
        std::ranges::any_of(extents, [](std::int64_t extent) { return extent <= 0; }))
        return std::nullopt;
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// The largest array of that name: blocks may have one each.
std::optional<std::int64_t> elementsIn(const KernelModel& function, std::string_view name) {
    std::optional<std::int64_t> most;
    for (const Variable& variable : function.body.variables)
        if (const auto elements = elementsOf(variable); elements && variable.name == name)
            most = std::max(most.value_or(0), *elements);
    return most;
}

/// Whether this use of the array is the object of as many subscripts as it has extents, each with
/// an index that fits.
bool fits(const KernelModel& function, const analysis::CodeMap& code, ExprId use) {
    const analysis::FunctionBody& body = function.body;
    const Variable& array = body.variable(body.expr(use).variable);
    ExprId at = use;
    for (const std::int64_t extent : array.type.arrayExtents) {
        const ExprId above = code.parent(at);
        if (above == noId || body.expr(above).kind != ExprKind::Subscript ||
            body.expr(above).children.front() != at)
            return false;
        const auto range = analysis::valueRangeOf(function, code, body.expr(above).children.back());
        if (!range || range->low < 0 || range->high >= extent)
            return false;
        at = above;
    }
    return true;
}

} // namespace

std::vector<SmallerArray> smallerArrays(const analysis::FileModel& original,
                                        const analysis::KernelModel& originalKernel,
                                        const analysis::FileModel& candidate,
                                        const analysis::KernelModel& kernel) {
    const auto originals = codeOf(original, originalKernel);
    std::vector<SmallerArray> found;
    for (const KernelModel* function : codeOf(candidate, kernel)) {
        const auto before =
            std::ranges::find(originals, function->qualifiedName,
                              [](const KernelModel* other) { return other->qualifiedName; });
        if (before == originals.end() || function->file != candidate.file)
            continue;
        const analysis::CodeMap code(function->body);
        for (VariableId id = 0; id < function->body.variables.size(); ++id) {
            const Variable& variable = function->body.variable(id);
            const auto elements = elementsOf(variable);
            const auto earlier = elements ? elementsIn(**before, variable.name) : std::nullopt;
            if (!earlier || *elements >= *earlier ||
                std::ranges::all_of(code.uses(id),
                                    [&](ExprId use) { return fits(*function, code, use); }))
                continue;
            found.push_back({variable.name,
                             candidate.source->lineColumn(variable.span.begin).line + 1, *earlier,
                             *elements});
        }
    }
    std::ranges::sort(found, {}, &SmallerArray::line);
    return found;
}

} // namespace kernelskill::engine
