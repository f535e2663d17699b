#include "engine/agents/review/trial_run.h"

#include "engine/agents/float64_reference.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A candidate may take this many times as long as the original before it counts as one that never
/// ends.
constexpr int slowdownAllowed = 20;
constexpr std::chrono::milliseconds shortestLimit{3000};
/// Each run is a process with one busy thread and buffers of its own.
constexpr std::size_t mostRunsAtOnce = 4;

/// The original's launch on buffers of the extents that it touched. Where nobody stated a length,
/// the original cannot have left them, so that the candidate has itself to blame if it does,
/// guessed launch or not. A block that nobody chose may be too large for shared arrays of either.
LaunchSpec onTouchedExtents(const LaunchSpec& candidate, const LaunchSpec& original,
                            const analysis::KernelModel& kernel,
                            const std::vector<BufferExtent>& extents) {
    LaunchSpec launch = withExtents(candidate, extents);
    const bool isUnsized = std::ranges::none_of(original.arguments, [](const auto& argument) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        return buffer != nullptr && buffer->elements.has_value();
    });
    if (launch.origin == LaunchOrigin::Guessed && isUnsized && kernel.sharedArrays.empty())
        launch.origin = LaunchOrigin::Evaluated;
    return launch;
}

} // namespace

std::size_t TrialRunner::runsAtOnce() {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, mostRunsAtOnce);
}

std::vector<Runs> TrialRunner::runAll(const std::vector<Comparand>& batch) const {
    std::vector<std::future<Runs>> running;
    for (const Comparand& comparand : batch)
        running.push_back(
            std::async(std::launch::async, [this, &comparand] { return run(comparand); }));
    std::vector<Runs> results;
    for (std::future<Runs>& runs : running)
        results.push_back(runs.get());
    return results;
}

Runs TrialRunner::run(const Comparand& comparand) const {
    const Trial& trial = *comparand.trial;
    Job job;
    job.launch = trial.original;
    job.seed = comparand.seed;
    job.wantOutputs = true;
    job.wantProfile = comparand.isFirst();
    auto begin = std::chrono::steady_clock::now();
    Runs runs{executor_.run(**images_.original, job, stop_), {}, {}};
    auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    if (!runs.original || stop_.stop_requested())
        return runs;
    job.launch =
        onTouchedExtents(trial.candidate, trial.original, kernel_, runs.original->profile.extents);
    job.limits.time = std::min(job.limits.time, std::max(shortestLimit, taken * slowdownAllowed));
    runs.candidate = executor_.run(**images_.candidate, job, stop_);
    if (*runs.candidate && numerics_ != skills::Numerics::Exact && !stop_.stop_requested())
        runs.truth = truth(comparand, *runs.original);
    return runs;
}

Result<std::vector<BufferContents>> TrialRunner::truth(const Comparand& comparand,
                                                       const RunResult& original) const {
    if (!images_.reference)
        return std::unexpected(Error{ErrorKind::Unsupported, images_.referenceNote, "", ""});
    auto launch = withDoubleArguments(
        kernel_, withExtents(comparand.trial->original, original.profile.extents));
    if (!launch)
        return std::unexpected(launch.error());
    Job job;
    job.launch = std::move(*launch);
    job.seed = comparand.seed;
    job.wantOutputs = true;
    job.wantHazards = false;
    auto result = executor_.run(*images_.reference, job, stop_);
    if (!result)
        return std::unexpected(
            Error{ErrorKind::Failed, "its double-precision form does not run", "", ""});
    return std::move(result->outputs);
}

} // namespace kernelskill::engine
