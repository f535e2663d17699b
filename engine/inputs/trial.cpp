#include "engine/inputs/trial.h"

#include "engine/inputs/block_work.h"
#include "engine/inputs/compared_variables.h"
#include "engine/inputs/launch_follower.h"
#include "engine/inputs/launch_inference.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/launch_sizes.h"
#include "engine/inputs/trial_instances.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr int seedsOfFirstTrial = 2;
/// Odd sizes, as parts of the file's own.
constexpr std::array oddParts{0.37};
/// Threads of a guessed launch on a GPU: some waves of blocks on a GPU with the most
/// multiprocessors.
constexpr double measuredThreads = 1 << 22;

/// The resizing whose thread count comes closest to `threads`. A scale acts on each extent, so a
/// launch over two axes shrinks with its square.
std::optional<ResizedLaunch> resizedTo(const LaunchSizes& sizes, const LaunchSpec& launch,
                                       double threads, bool odd) {
    double ratio = threads / threadsOf(launch);
    std::optional<ResizedLaunch> best;
    double bestDistance = 0;
    for (double scale : {ratio, std::sqrt(ratio), std::cbrt(ratio)}) {
        auto resized = sizes.scaledBy(scale, odd);
        if (!resized)
            continue;
        double distance = std::abs(std::log(std::max(1.0, threadsOf(resized->launch)) / threads));
        if (!best || distance < bestDistance) {
            best = std::move(resized);
            bestDistance = distance;
        }
    }
    return best;
}

bool eitherLoopsOverGrid(KernelInFile original, KernelInFile candidate) {
    return loopsOverGrid(original.kernel) || loopsOverGrid(candidate.kernel);
}

/// The first blocks of a launch whose size no argument sets: as many as run in comfortable time, of
/// each axis the same part. If one of the kernels covers any grid's work by a loop over it, the
/// grid stays as it is and some of its blocks run. nullopt if the candidate runs on another grid,
/// whose first blocks do other work.
std::optional<Trial> cornerOf(const LaunchSpec& original, const LaunchSpec& candidate,
                              bool isLaunched, bool coversAnyGrid, double threads) {
    auto pair = paired(original, candidate, isLaunched);
    if (!pair || pair->grid != original.grid || pair->block != original.block)
        return std::nullopt;
    const auto axes =
        std::ranges::count_if(std::array{original.grid.x, original.grid.y, original.grid.z},
                              [](std::uint32_t extent) { return extent > 1; });
    if (axes == 0)
        return std::nullopt;
    const double scale = std::pow(threads / threadsOf(original), 1.0 / static_cast<double>(axes));
    const auto part = [&](std::uint32_t extent) {
        return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(extent * scale));
    };
    LaunchSpec launch = original;
    if (coversAnyGrid) {
        const double blocks = threads / static_cast<double>(original.block.count());
        const auto taken = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(blocks));
        return Trial{.label = fmt::format("{}, {} of {} blocks", labelOf(original), taken,
                                          original.grid.count()),
                     .original = std::move(launch),
                     .candidate = std::move(*pair),
                     .maxBlocks = taken,
                     .isCorner = true};
    }
    launch.grid = {part(original.grid.x), part(original.grid.y), part(original.grid.z)};
    pair->grid = launch.grid;
    launch.statedGrid.reset();
    pair->statedGrid.reset();
    std::string label =
        fmt::format("the first {}x{}x{} of {}x{}x{} blocks", launch.grid.x, launch.grid.y,
                    launch.grid.z, original.grid.x, original.grid.y, original.grid.z);
    return Trial{.label = std::move(label),
                 .original = std::move(launch),
                 .candidate = std::move(*pair),
                 .isCorner = true};
}

/// Whether the edited launch is computed from the original's guessed grid. That needs an extent
/// that can be changed: probes with as many elements as threads show whether the edit launches
/// enough.
bool followsGuess(KernelInFile original, const LaunchSpec& launch) {
    return launch.isShapeGuessed &&
           !LaunchSizes(original.file, original.kernel, launch).extents().empty();
}

/// As paired(). The edited launch is computed from its text where the edit adds integers to a
/// launch whose shape is guessed, where it changes the number that the grid is made from, and, with
/// `follows`, where it changes the guessed grid itself.
std::optional<LaunchSpec> pairOf(KernelInFile original, const LaunchSpec& launch,
                                 KernelInFile candidate, LaunchSpec theirs, bool follows) {
    if (launch.origin == LaunchOrigin::Guessed && isMadeFor(theirs, launch))
        if (const LaunchFollower follower(original, candidate); follows || follower.isNeeded())
            if (auto followed = follower.of(launch))
                return withShapeOf(std::move(theirs), *followed);
    return paired(launch, std::move(theirs), !candidate.kernel.launches.empty());
}

std::optional<Trial> resizedTrial(KernelInFile original, const LaunchSpec& originalLaunch,
                                  KernelInFile candidate, const LaunchSpec& candidateLaunch,
                                  double threads, bool odd, bool follows) {
    auto resized = resizedTo(LaunchSizes(original.file, original.kernel, originalLaunch),
                             originalLaunch, threads, odd);
    if (!resized)
        return std::nullopt;
    auto& [launch, extents] = *resized;
    auto other = launchAt(candidate.file, candidate.kernel, candidateLaunch, extents);
    bool isGuess = launch.origin == LaunchOrigin::Guessed;
    if (!other && !isGuess)
        return std::nullopt;
    auto pair =
        pairOf(original, launch, candidate, std::move(other).value_or(candidateLaunch), follows);
    if (!pair)
        return std::nullopt;
    std::string label = labelOf(launch);
    return Trial{
        .label = std::move(label), .original = std::move(launch), .candidate = std::move(*pair)};
}

/// Returns the candidate's launch that does what `launch`, the original's of that index, does. If
/// every instance is for other integers, it is the one of that index, which has to do it as well.
LaunchSpec candidateLaunch(const LaunchSpec& launch, std::size_t index,
                           const std::vector<LaunchSpec>& candidates) {
    LaunchSpec same = candidates[std::min(index, candidates.size() - 1)];
    if (isMadeFor(same, launch))
        return same;
    const auto made = std::ranges::find_if(
        candidates, [&](const LaunchSpec& other) { return isMadeFor(other, launch); });
    if (made != candidates.end())
        return *made;
    same.madeFor.clear();
    return same;
}

std::string captureLabel(const LaunchSpec& launch) {
    return labelOf(launch) + ", as captured";
}

/// Beside the other trials of its instance of the kernel, for which a review has images.
void insertByInstance(std::vector<Trial>& trials, Trial trial) {
    const auto place = std::ranges::find_if(
        trials, [&](const Trial& other) { return !runsSameInstances(other, trials.front()); });
    const bool isOfFirst = !trials.empty() && runsSameInstances(trial, trials.front());
    trials.insert(isOfFirst ? place : trials.end(), std::move(trial));
}

/// The captured launch, or where it is large its first blocks.
void addReplay(TrialPlan& plan, KernelInFile original, KernelInFile candidate,
               const LaunchSpec& launch, const TrialThreads& limits) {
    auto theirs = editedCapture(original, candidate, launch);
    if (!theirs) {
        plan.notes.push_back("the captured data was not tried: " + theirs.error().what);
        return;
    }
    if (threadsOf(launch) <= limits.maxAsIs) {
        insertByInstance(plan.trials, {.label = captureLabel(launch),
                                       .original = launch,
                                       .candidate = std::move(*theirs),
                                       .isReplay = true});
        return;
    }
    auto corner = cornerOf(launch, *theirs, true, eitherLoopsOverGrid(original, candidate),
                           limits.comfortable);
    if (!corner) {
        plan.notes.push_back("the captured data was not tried: the launch is too large to emulate, "
                             "and the edit gives its blocks other work");
        return;
    }
    corner->label += ", as captured";
    insertByInstance(plan.trials, std::move(*corner));
}

/// The first captured launch of each instance of the kernel, since the edit is of all of them.
void addReplays(TrialPlan& plan, KernelInFile original, KernelInFile candidate,
                const StoredCaptures& captures, const TrialThreads& limits) {
    constexpr std::size_t maxInstances = 4;
    const auto captured = capturedLaunches(original.file, original.kernel, captures);
    plan.notes.insert(plan.notes.end(), captured.refusals.begin(), captured.refusals.end());
    std::vector<const LaunchSpec*> taken;
    for (const LaunchSpec& launch : captured.launches) {
        const bool isKnown = std::ranges::any_of(taken, [&](const LaunchSpec* other) {
            return other->templateArguments == launch.templateArguments;
        });
        if (isKnown || taken.size() == maxInstances)
            continue;
        taken.push_back(&launch);
        addReplay(plan, original, candidate, launch, limits);
    }
}

} // namespace

bool runsSameInstances(const Trial& one, const Trial& other) {
    return one.original.templateArguments == other.original.templateArguments &&
           one.candidate.templateArguments == other.candidate.templateArguments;
}

Result<TrialPlan> planTrials(KernelInFile original, KernelInFile candidate,
                             const StoredCaptures& captures, const TrialThreads& limits) {
    auto originalLaunches = inferLaunches(original.file, original.kernel);
    if (!originalLaunches)
        return std::unexpected(originalLaunches.error());
    auto candidateLaunches = inferLaunches(candidate.file, candidate.kernel);
    if (!candidateLaunches)
        return std::unexpected(candidateLaunches.error());
    TrialPlan plan;
    plan.variables = comparedVariables(original, candidate);
    // Each launch site with other template arguments or another block shape is another kernel as
    // far as it goes.
    std::vector<const LaunchSpec*> taken;
    constexpr std::size_t maxLaunches = 8;
    for (std::size_t index = 0; index < originalLaunches->size() && taken.size() < maxLaunches;
         ++index) {
        const LaunchSpec& launch = (*originalLaunches)[index];
        bool isKnown = std::ranges::any_of(taken, [&](const LaunchSpec* other) {
            return other->templateArguments == launch.templateArguments &&
                   other->block == launch.block;
        });
        if (isKnown)
            continue;
        bool isFirst = taken.empty();
        taken.push_back(&launch);
        const LaunchSpec theirs = candidateLaunch(launch, index, *candidateLaunches);

        const bool follows = followsGuess(original, launch);
        std::optional<Trial> base;
        if (threadsOf(launch) > limits.maxAsIs)
            base = resizedTrial(original, launch, candidate, theirs, limits.comfortable, false,
                                follows);
        if (!base && threadsOf(launch) > limits.maxAsIs)
            base = cornerOf(launch, theirs, !candidate.kernel.launches.empty(),
                            eitherLoopsOverGrid(original, candidate), limits.comfortable);
        if (!base) {
            if (auto pair = pairOf(original, launch, candidate, theirs, follows))
                base = Trial{
                    .label = labelOf(launch), .original = launch, .candidate = std::move(*pair)};
        }
        if (!base) {
            plan.notes.push_back(
                "the candidate is launched with other arguments than the original: " +
                labelOf(launch) + " and " + labelOf(theirs));
            continue;
        }
        base->seeds = isFirst ? seedsOfFirstTrial : 1;
        if (isFirst) {
            plan.statedOriginal = launch;
            plan.statedCandidate = theirs;
        }
        double threads = threadsOf(base->original);
        plan.trials.push_back(std::move(*base));
        if (!isFirst)
            continue;
        std::vector<std::string> labels{plan.trials.back().label};
        for (const double part : oddParts) {
            auto odd = resizedTrial(original, launch, candidate, theirs,
                                    std::max(64.0, threads * part), true, follows);
            if (odd && std::ranges::find(labels, odd->label) == labels.end()) {
                labels.push_back(odd->label);
                plan.trials.push_back(std::move(*odd));
            }
        }
        if (labels.size() == 1)
            plan.notes.push_back("the launch cannot be resized: only " + labels.front() +
                                 " was tried");
    }
    const bool addsInstances =
        original.kernel.templateParameters.size() != candidate.kernel.templateParameters.size();
    if (addsInstances && !plan.trials.empty())
        addInstanceTrials(plan, original, candidate);
    addReplays(plan, original, candidate, captures, limits);
    if (plan.trials.empty())
        return std::unexpected(
            Error{ErrorKind::Failed,
                  plan.notes.empty() ? "no launch to compare on" : plan.notes.front(), "", ""});
    return plan;
}

Result<Trial> planMeasurement(KernelInFile original, KernelInFile candidate,
                              const StoredCaptures& captures) {
    const auto originalLaunches = inferLaunches(original.file, original.kernel, LaunchTarget::Gpu);
    if (!originalLaunches)
        return std::unexpected(originalLaunches.error());
    const auto candidateLaunches =
        inferLaunches(candidate.file, candidate.kernel, LaunchTarget::Gpu);
    if (!candidateLaunches)
        return std::unexpected(candidateLaunches.error());
    const LaunchSpec& launch = originalLaunches->front();
    const LaunchSpec theirs = candidateLaunch(launch, 0, *candidateLaunches);
    const auto captured = capturedLaunches(original.file, original.kernel, captures);
    if (launch.origin != LaunchOrigin::Pinned && !captured.launches.empty()) {
        const LaunchSpec& passed = captured.launches.front();
        if (auto edited = editedCapture(original, candidate, passed))
            return Trial{.label = captureLabel(passed),
                         .original = passed,
                         .candidate = std::move(*edited),
                         .isReplay = true};
    }
    if (launch.origin == LaunchOrigin::Guessed && threadsOf(launch) < measuredThreads) {
        if (auto trial = resizedTrial(original, launch, candidate, theirs, measuredThreads, false,
                                      followsGuess(original, launch)))
            return std::move(*trial);
    }
    auto pair = pairOf(original, launch, candidate, theirs, followsGuess(original, launch));
    if (!pair)
        return std::unexpected(Error{
            ErrorKind::Failed,
            "the candidate is launched with other arguments than the original: " + labelOf(launch) +
                " and " + labelOf(theirs),
            {},
            {}});
    return Trial{.label = labelOf(launch), .original = launch, .candidate = std::move(*pair)};
}

LaunchSpec measurableLaunch(KernelInFile subject, const LaunchSpec& launch,
                            std::shared_ptr<const LaunchSource> text) {
    if (launch.origin != LaunchOrigin::Guessed || threadsOf(launch) >= measuredThreads)
        return launch;
    if (text == nullptr)
        text = std::make_shared<const LaunchSource>(subject.file);
    auto resized = resizedTo(LaunchSizes(std::move(text), subject.file, subject.kernel, launch),
                             launch, measuredThreads, false);
    if (!resized)
        return launch;
    return std::move(resized->launch);
}

LaunchSpec withExtents(LaunchSpec candidate, const std::vector<BufferExtent>& extents) {
    for (ArgumentSpec& argument : candidate.arguments) {
        auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer == nullptr || buffer->elements)
            continue;
        auto extent = std::ranges::find(extents, buffer->name, &BufferExtent::name);
        if (extent != extents.end())
            buffer->elements = std::max<std::uint64_t>(
                {extent->elements, extent->written ? 0 : buffer->minElements, 1});
    }
    return candidate;
}

} // namespace kernelskill::engine
