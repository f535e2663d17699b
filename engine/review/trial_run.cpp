#include "engine/review/trial_run.h"

#include "engine/comparison/float64_reference.h"
#include "engine/comparison/hazard_comparison.h"
#include "engine/inputs/compared_variables.h"
#include "engine/inputs/launch_pair.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <thread>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A candidate that takes more than this many times as long as the original counts as one that
/// never ends.
constexpr int slowdownAllowed = 20;
constexpr std::chrono::milliseconds minTimeLimit{3000};
/// An original that takes longer on a probe does something that the probe did not mean.
constexpr std::chrono::milliseconds probeTimeLimit{600};
/// Threads that wait for others may wait forever in a schedule that the original is not made for.
constexpr std::chrono::milliseconds scheduledTime{3000};
constexpr std::uint64_t scheduledAccesses = 40'000'000;
constexpr int scheduledSlowdownAllowed = 4;
/// Each run is a process with one busy thread and its own buffers.
constexpr std::size_t maxRunsAtOnce = 4;

/// Returns the time limit of a candidate whose original took `original`. The emulator runs one
/// thread after the other, so that the limit grows with the candidate's threads.
std::chrono::milliseconds timeLimit(const Trial& trial, std::chrono::milliseconds original) {
    const double threads = threadsOf(trial.candidate) / threadsOf(trial.original);
    return std::chrono::duration_cast<std::chrono::milliseconds>(original * slowdownAllowed *
                                                                 std::max(threads, 1.0));
}

/// Whether the buffers of a guessed launch have the extents that the original touched, because no
/// length was given. A candidate that goes beyond them accesses elements that the original does
/// not.
bool hasTouchedExtents(const LaunchSpec& original) {
    return original.origin == LaunchOrigin::Guessed &&
           std::ranges::none_of(original.arguments, [](const auto& argument) {
               const auto* buffer = std::get_if<BufferSpec>(&argument);
               return buffer != nullptr && buffer->elements.has_value();
           });
}

/// Whether the kernel declares the shared array of that name, or one in dynamic shared memory,
/// whose accesses have no name.
bool declaresShared(const analysis::KernelModel& kernel, const std::string& name) {
    return std::ranges::any_of(kernel.sharedArrays, [&](const analysis::SharedArray& array) {
        return name.empty() ? array.isDynamic
                            : array.variable != analysis::noId &&
                                  kernel.body.variable(array.variable).name == name;
    });
}

/// Makes hazards uncertain that the guess causes and not the candidate: a guessed block is too
/// large for a shared array that the candidate adds, made-up indices collide in a buffer, or
/// made-up numbers lead the original out of the same object as well.
void excuseGuess(const LaunchSpec& launch, const analysis::KernelModel& kernel,
                 const Profile& original, std::vector<Hazard>& hazards) {
    for (Hazard& hazard : hazards) {
        const bool isInBuffer = std::ranges::any_of(launch.arguments, [&](const auto& argument) {
            const auto* buffer = std::get_if<BufferSpec>(&argument);
            return buffer != nullptr && buffer->name == hazard.details.object;
        });
        if (hazard.kind == HazardKind::OutOfBounds && isInBuffer)
            hazard.certain &= !(hazard.details.isInFront() && leavesAlike(original, hazard));
        else if (hazard.kind == HazardKind::OutOfBounds)
            hazard.certain &=
                declaresShared(kernel, hazard.details.object) && !leavesAlike(original, hazard);
        if (hazard.kind == HazardKind::Race)
            hazard.certain &= !isInBuffer;
    }
}

} // namespace

std::size_t TrialRunner::runsAtOnce() {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, maxRunsAtOnce);
}

std::vector<Runs> TrialRunner::runAll(const std::vector<Comparand>& batch) const {
    std::vector<std::future<Runs>> running;
    for (const Comparand& comparand : batch)
        running.push_back(begin(comparand));
    std::vector<Runs> results;
    for (std::future<Runs>& runs : running)
        results.push_back(runs.get());
    return results;
}

bool TrialRunner::judgeEach(const std::vector<Comparand>& comparands,
                            const std::function<bool(const Comparand&, Runs)>& judge) const {
    std::stop_source over;
    const std::stop_callback cancelled(stop_, [&over] { over.request_stop(); });
    TrialRunner runner(*this);
    runner.stop_ = over.get_token();
    std::deque<std::future<Runs>> running;
    std::size_t next = 0;
    for (const Comparand& comparand : comparands) {
        for (; next < comparands.size() && running.size() < runsAtOnce(); ++next)
            running.push_back(runner.begin(comparands[next]));
        Runs runs = running.front().get();
        running.pop_front();
        if (!judge(comparand, std::move(runs))) {
            over.request_stop(); // Nobody asks for the others, and their futures wait for them.
            return false;
        }
    }
    return true;
}

std::future<Runs> TrialRunner::begin(const Comparand& comparand) const {
    return std::async(std::launch::async, [this, &comparand] { return run(comparand); });
}

RunPair RunPair::of(Runs runs) {
    return {std::move(*runs.original), std::move(**runs.candidate), std::move(runs.truth),
            std::move(runs.wideCandidate)};
}

Runs TrialRunner::run(const Comparand& comparand) const {
    const Trial& trial = *comparand.trial;
    Job job;
    job.launch = withVariables(trial.original, variables_);
    job.seed = comparand.seed;
    job.wantOutputs = true;
    job.wantProfile = comparand.isFirst();
    job.maxBlocks = trial.maxBlocks;
    job.wantTolerated = true;
    if (trial.isProbe)
        job.limits.time = probeTimeLimit;
    if (comparand.schedule != Schedule{}) {
        job.schedule = comparand.schedule;
        job.limits.time = scheduledTime;
        job.limits.accesses = scheduledAccesses;
    }
    auto original = executor_.runOrRecall(**images_.original, job, stop_);
    if (!original)
        return {std::unexpected(std::move(original.error())), {}, {}};
    const std::chrono::milliseconds taken = original->took;
    Runs runs{std::move(original->result), {}, {}};
    if (stop_.stop_requested())
        return runs;
    // Some blocks do not tell how far the others go.
    job.launch = withVariables(trial.maxBlocks
                                   ? trial.candidate
                                   : withExtents(trial.candidate, runs.original->profile.extents),
                               variables_);
    const bool isBlamed = hasTouchedExtents(trial.original);
    if (isBlamed)
        job.launch.origin = LaunchOrigin::Evaluated;
    if (comparand.schedule == Schedule{}) {
        job.limits.time =
            std::max(minTimeLimit, std::min(job.limits.time, timeLimit(trial, taken)));
    } else {
        job.limits.time *= scheduledSlowdownAllowed;
        job.limits.accesses *= scheduledSlowdownAllowed;
    }
    // The float64 forms run beside the candidate: all three need only what the original touched.
    std::future<WideRuns> beside;
    if (numerics_ != skills::Numerics::Exact)
        beside = std::async(std::launch::async, [&, extents = runs.original->profile.extents] {
            return runWide(comparand, extents);
        });
    runs.candidate = executor_.run(**images_.candidate, job, stop_);
    if (isBlamed && *runs.candidate)
        excuseGuess(trial.original, original_.kernel, runs.original->profile,
                    (*runs.candidate)->profile.hazards);
    if (!beside.valid())
        return runs;
    WideRuns wide = beside.get();
    if (*runs.candidate) {
        runs.truth = std::move(wide.original);
        runs.wideCandidate = std::move(wide.candidate);
    }
    return runs;
}

TrialRunner::WideRuns TrialRunner::runWide(const Comparand& comparand,
                                           const std::vector<BufferExtent>& extents) const {
    if (stop_.stop_requested())
        return {std::unexpected(
                    Error{ErrorKind::Cancelled, "the review was cancelled before it ran", "", ""}),
                {}};
    if (!images_.reference)
        return {std::unexpected(Error{ErrorKind::Unsupported, images_.referenceNote, "", ""}), {}};
    const Trial& trial = *comparand.trial;
    WideRuns runs{
        wide(*images_.reference, original_, withExtents(trial.original, extents), comparand), {}};
    const bool isWhole = !trial.maxBlocks && !trial.onlyFiniteness;
    if (!images_.wideCandidate || !runs.original || !isWhole || comparand.schedule != Schedule{} ||
        stop_.stop_requested())
        return runs;
    if (auto outputs = wide(*images_.wideCandidate, candidate_,
                            withExtents(trial.candidate, extents), comparand))
        runs.candidate = std::move(*outputs);
    return runs;
}

Result<std::vector<BufferContents>> TrialRunner::wide(const Image& image, KernelInFile subject,
                                                      LaunchSpec narrow,
                                                      const Comparand& comparand) const {
    auto launch = withDoubleArguments(subject, std::move(narrow));
    if (!launch)
        return std::unexpected(launch.error());
    Job job;
    job.launch = withVariables(std::move(*launch), variables_);
    job.seed = comparand.seed;
    job.wantOutputs = true;
    job.maxBlocks = comparand.trial->maxBlocks;
    job.wantHazards = job.maxBlocks.has_value();
    // The reviews of other edits run the reference as well.
    if (&image == images_.reference.get()) {
        auto known = executor_.runOrRecall(image, job, stop_);
        if (known)
            return std::move(known->result.outputs);
    } else if (auto result = executor_.run(image, job, stop_)) {
        return std::move(result->outputs);
    }
    return std::unexpected(
        Error{ErrorKind::Failed, "its double-precision form does not run", "", ""});
}

} // namespace kernelskill::engine
