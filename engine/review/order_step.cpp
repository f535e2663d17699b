#include "engine/review/order_step.h"

#include "engine/proof/thread_order.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine {
namespace {

constexpr const char* checkName = "threads are ordered for all sizes";

/// Whether all that is removed from the text is removed from the kernel.
bool areOfKernel(const std::vector<LessSynchronisation>& removed, KernelRef original,
                 KernelRef candidate) {
    const auto codeOf = [](KernelRef kernel) {
        return kernel.file().source->slice(kernel.kernel.span);
    };
    return describe(lessSynchronisation(codeOf(original), codeOf(candidate))) == describe(removed);
}

/// The block that all launches of the kernel in its file state; nullopt if they do not.
std::optional<std::array<Wide, 3>> statedBlock(KernelRef kernel) {
    std::optional<std::array<Wide, 3>> block;
    for (const analysis::LaunchSite& launch : kernel.kernel.launches) {
        if (launch.constantBlock.empty() || launch.constantBlock.size() > 3)
            return std::nullopt;
        std::array<Wide, 3> extents{1, 1, 1};
        std::ranges::copy(launch.constantBlock, extents.begin());
        if (block && *block != extents)
            return std::nullopt;
        block = extents;
    }
    return block;
}

/// For all blocks; else for those that the launches state.
ThreadOrder orderOf(KernelRef kernel, IntegerSolver& solver) {
    ThreadOrder order = orderOfThreads(kernel, solver, false);
    const auto block = statedBlock(kernel);
    return order || !block ? std::move(order) : orderOfThreads(kernel, solver, false, block);
}

} // namespace

OrderOfEdit orderOfEdit(KernelRef original, KernelRef candidate, const LaunchSpec& launch,
                        const std::vector<LessSynchronisation>& removed) {
    OrderOfEdit result;
    if (candidate.kernel.file != candidate.file().file || candidate.kernel.fromMacro)
        return result;
    IntegerSolver solver;
    const ThreadOrder after = orderOf(candidate, solver);
    if (after) {
        result.needsNoMore = !removed.empty() && areOfKernel(removed, original, candidate);
        std::string detail = after->sentence();
        if (after->sharesMemory || result.needsNoMore)
            result.sentence = detail;
        if (result.needsNoMore)
            detail += fmt::format(", without {}", describe(removed));
        result.check = held(checkName, std::move(detail));
        return result;
    }
    // What the original may do as well, or is not followed in it, is no fault of the edit.
    if (!orderOf(original, solver))
        return result;
    const Dim3& block = launch.block;
    const ThreadOrder meeting =
        orderOfThreads(candidate, solver, true, std::array<Wide, 3>{block.x, block.y, block.z});
    if (meeting || !meeting.error().meeting ||
        (meeting.error().meeting->isOfTwoBlocks && launch.grid.count() < 2))
        return result;
    result.check = incorrect(
        checkName,
        fmt::format("{}; no two threads of the original do", meeting.error().meeting->sentence()),
        {.stage = ReviewStage::Hardware});
    return result;
}

} // namespace kernelskill::engine
