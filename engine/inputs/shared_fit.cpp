#include "engine/inputs/shared_fit.h"

#include <algorithm>
#include <optional>

namespace kernelskill::engine {
namespace {

/// `scale * threadIdx[axis] + offset`
struct ThreadSubscript {
    std::uint32_t axis = 0;
    std::int64_t scale = 1;
    std::int64_t offset = 0;
};

std::optional<ThreadSubscript> threadSubscript(const analysis::IndexExpression& index) {
    std::optional<ThreadSubscript> result;
    std::int64_t offset = 0;
    for (const auto& [monomial, coefficient] : index.terms()) {
        if (monomial.empty()) {
            offset = coefficient;
            continue;
        }
        const bool isThread = monomial.size() == 1 &&
                              monomial.front().kind == analysis::SymbolKind::ThreadIdx &&
                              monomial.front().id < 3;
        if (!isThread || result || coefficient < 1)
            return std::nullopt;
        result = ThreadSubscript{monomial.front().id, coefficient, 0};
    }
    if (result)
        result->offset = offset;
    return result;
}

} // namespace

std::array<std::int64_t, 3> fittedToShared(const analysis::KernelModel& kernel,
                                           std::array<std::int64_t, 3> block) {
    for (const analysis::MemoryAccess& access : kernel.accesses) {
        if (access.space != analysis::MemorySpace::Shared || access.base == analysis::noId ||
            !access.conditions.empty())
            continue;
        const auto& extents = kernel.body.variable(access.base).type.arrayExtents;
        for (std::size_t i = 0; i < std::min(extents.size(), access.subscripts.size()); ++i) {
            const auto subscript =
                access.subscripts[i] ? threadSubscript(*access.subscripts[i]) : std::nullopt;
            if (!subscript || extents[i] <= subscript->offset)
                continue;
            const std::int64_t max = (extents[i] - 1 - subscript->offset) / subscript->scale + 1;
            block[subscript->axis] = std::min(block[subscript->axis], max);
        }
    }
    return block;
}

} // namespace kernelskill::engine
