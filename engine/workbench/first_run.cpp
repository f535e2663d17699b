#include "engine/workbench/first_run.h"

#include "engine/execution/cut_off.h"
#include "engine/execution/sized_launch.h"
#include "engine/execution/work_estimate.h"
#include "engine/inputs/fewer_rounds.h"
#include "engine/inputs/launch_inference.h"
#include "engine/inputs/launch_sizes.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxGuesses = 2;
constexpr double smallerGuess = 1.0 / 16;
/// The time limit of a guessed launch if there is another launch to try.
constexpr std::chrono::seconds guessTime{4};

} // namespace

Result<RunResult> firstRun(Executor& executor, KernelRef kernel, std::vector<LaunchSpec> launches,
                           const std::stop_token& stop, const ProgressSink& say) {
    const bool isGuessed = launches.front().origin == LaunchOrigin::Guessed;
    launches.resize(isGuessed ? std::min(launches.size(), maxGuesses) : 1);
    if (isGuessed) {
        if (auto smaller =
                resizeLaunch(kernel.file(), kernel.kernel, launches.front(), smallerGuess, false))
            launches.push_back(std::move(smaller->launch));
    }
    auto fewer = withFewerRounds(launches.back(), scalarUses(kernel.kernel));
    const bool hasFewerRounds = fewer.has_value();
    if (hasFewerRounds)
        launches.push_back(*std::move(fewer));
    Result<RunResult> first = std::unexpected(Error{});
    for (const LaunchSpec& launch : launches) {
        // Fewer rounds would hide any other failure.
        if (hasFewerRounds && &launch == &launches.back() && !isCutOff(first.error()))
            break;
        say("compiling " + kernel.kernel.name, 0);
        auto image = executor.build(kernel, launch, stop);
        if (!image && &launch == &launches.front())
            return std::unexpected(image.error());
        if (!image)
            break;
        say("running " + kernel.kernel.name, 0.4);
        Job job;
        job.launch = launch;
        job.wantProfile = true;
        job.maxBlocks = affordableBlocks(executor, **image, launch, profiledBlocks(launch), stop);
        const bool mayTryAnother = &launch != &launches.back();
        if (mayTryAnother && isGuessed)
            job.limits.time = guessTime;
        auto result = executor.run(**image, job, stop);
        if (result)
            return result;
        if (&launch == &launches.front())
            first = std::move(result);
        if (!mayTryAnother || first.error().kind != ErrorKind::Failed)
            break;
    }
    return first;
}

} // namespace kernelskill::engine
