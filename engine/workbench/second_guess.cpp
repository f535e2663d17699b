#include "engine/workbench/second_guess.h"

#include "engine/execution/sized_launch.h"
#include "engine/execution/work_estimate.h"
#include "engine/inputs/launch_sizes.h"

#include <chrono>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Far enough from the first guess to be another problem, large enough to have several blocks.
constexpr double otherSize = 1.0 / 4;
constexpr std::chrono::seconds secondGuessTime{2};

} // namespace

std::optional<Profile> secondGuess(Executor& executor, KernelRef kernel, const Profile& first,
                                   const std::stop_token& stop) {
    if (!first.launch.isShapeGuessed)
        return std::nullopt;
    const auto other = resizeLaunch(kernel.file(), kernel.kernel, first.launch, otherSize, false);
    if (!other)
        return std::nullopt;
    const auto image = executor.build(kernel, other->launch, stop);
    if (!image)
        return std::nullopt;
    Job job;
    job.launch = other->launch;
    job.wantProfile = true;
    job.maxBlocks =
        affordableBlocks(executor, **image, other->launch, profiledBlocks(other->launch), stop);
    job.limits.time = secondGuessTime;
    auto result = executor.run(**image, job, stop);
    return result ? std::optional(std::move(result->profile)) : std::nullopt;
}

} // namespace kernelskill::engine
