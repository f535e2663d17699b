#include "engine/inputs/probe_planner.h"

#include "engine/inputs/block_work.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/value_dictionary.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Threads of a probe that changes something other than the size.
constexpr double smallThreads = 1 << 9;

/// `candidate` with as many threads, along each axis, in proportion to those of `original` as the
/// launches of the programs have: numbers alone do not tell which of two equal sizes a grid is for.
/// If both programs have a thread for each position, the candidate keeps one for each.
LaunchSpec inProportion(LaunchSpec candidate, const LaunchSpec& original,
                        const LaunchSpec& statedOriginal, const LaunchSpec& stated,
                        const SizeRelations& relations) {
    const auto dividedUp = [](std::uint64_t value, std::uint64_t by) {
        return (value + by - 1) / by;
    };
    constexpr std::array axes{&Dim3::x, &Dim3::y, &Dim3::z};
    for (std::size_t at = 0; at < axes.size(); ++at) {
        std::uint32_t Dim3::* const axis = axes.at(at);
        const auto threadsAlong = [&](const LaunchSpec& launch) {
            return std::uint64_t{launch.grid.*axis} * launch.block.*axis;
        };
        std::uint64_t threads =
            dividedUp(threadsAlong(original) * threadsAlong(stated), threadsAlong(statedOriginal));
        const auto positions = static_cast<std::uint64_t>(relations.positions(at, statedOriginal));
        if (positions > 0 && threadsAlong(stated) >= positions)
            threads =
                std::max(threads, static_cast<std::uint64_t>(relations.positions(at, original)));
        candidate.grid.*axis =
            static_cast<std::uint32_t>(dividedUp(threads, candidate.block.*axis));
    }
    return candidate;
}

std::optional<LaunchFollower> neededFollower(KernelInFile original, KernelInFile candidate,
                                             const LaunchSpec& launch) {
    if (!launch.isShapeGuessed && !LaunchFollower(original, candidate).isNeeded())
        return std::nullopt;
    return std::optional<LaunchFollower>(std::in_place, original, candidate);
}

} // namespace

ProbePlanner::ProbePlanner(KernelInFile original, KernelInFile candidate, const TrialPlan& plan,
                           skills::Numerics numerics, std::uint64_t seed)
    : original_(original), candidate_(candidate), statedOriginal_(plan.statedOriginal),
      stated_(plan.statedCandidate),
      follower_(neededFollower(original, candidate, plan.statedOriginal)),
      dictionary_(valueDictionary(original, candidate)), bounds_{numerics},
      sizes_(original.file, original.kernel, plan.statedOriginal, SizeSource::TextOrNumbers),
      candidateSizes_(candidate.file, candidate.kernel, plan.statedCandidate,
                      sizes_.relations() != nullptr ? SizeSource::Numbers
                                                    : SizeSource::TextOrNumbers),
      random_(seed), baseExtents_(sizes_.extents()), base_(smallest(plan)),
      whole_(plan.trials.front()) {
    shrinkBaseGrid();
}

ProbePlan ProbePlanner::plan(const std::map<std::string, std::int64_t>& passed) {
    addSizes();
    addPassed(passed);
    addScalars();
    addClassNumbers();
    addGrids();
    addBlocks();
    addCollisions();
    addLargeValues();
    addTinyValues();
    addValues();
    addEqualPointers();
    addShiftedBuffers();
    addDistantBlocks();
    return std::move(plan_);
}

void ProbePlanner::add(LaunchSpec original, LaunchSpec candidate) {
    // Constants are where most edits differ, so they come twice.
    constexpr std::array styles{InputStyle::Constants, InputStyle::Plain, InputStyle::Ties,
                                InputStyle::Constants, InputStyle::Extremes};
    add(std::move(original), std::move(candidate), styles.at(styled_++ % styles.size()));
}

void ProbePlanner::add(LaunchSpec original, LaunchSpec candidate, InputStyle style) {
    // Where the candidate is for other integers, its program launches another instance.
    if (!isMadeFor(candidate, original))
        return;
    Trial probe;
    probe.label = labelOf(original);
    if (style != InputStyle::Plain)
        probe.label += fmt::format(", {}", describe(style));
    bounds_.turn = turns_[style]++;
    probe.original = withStyle(std::move(original), style, dictionary_, bounds_, random_());
    probe.candidate = withArgumentsOf(std::move(candidate), probe.original);
    probe.isProbe = true;
    plan_.probes.push_back(std::move(probe));
}

std::optional<LaunchSpec> ProbePlanner::candidateAt(const LaunchSpec& original,
                                                    const Extents& extents) const {
    // Relations between the numbers of one launch do not tell what another passes.
    const bool isByNumbers =
        sizes_.relations() != nullptr || candidateSizes_.relations() != nullptr;
    const bool isKnown = !isByNumbers && original.origin != LaunchOrigin::Guessed;
    if (follower_ && !isKnown && isMadeFor(stated_, original))
        if (const auto followed = follower_->of(original))
            return withShapeOf(stated_, *followed);
    if (isByNumbers && !takesNumbersOf(stated_, original))
        return std::nullopt;
    auto other = candidateSizes_.at(extents);
    if (const SizeRelations* relations = sizes_.relations(); other && relations != nullptr)
        other = inProportion(*std::move(other), original, statedOriginal_, stated_, *relations);
    if (!other && original.origin != LaunchOrigin::Guessed)
        return std::nullopt;
    return paired(original, std::move(other).value_or(stated_),
                  !candidate_.kernel.launches.empty());
}

Trial ProbePlanner::smallest(const TrialPlan& plan) {
    const double ratio = smallThreads / threadsOf(plan.statedOriginal);
    // The extents of a launch over several axes share the ratio, and stay larger then.
    for (const double scale : {std::cbrt(ratio), std::sqrt(ratio), ratio}) {
        auto resized = ratio < 1 ? sizes_.scaledBy(scale, false) : std::nullopt;
        if (!resized || threadsOf(resized->launch) > 4 * smallThreads)
            continue;
        auto pair = candidateAt(resized->launch, resized->extents);
        if (!pair)
            continue;
        baseExtents_ = std::move(resized->extents);
        return {.label = {}, .original = std::move(resized->launch), .candidate = std::move(*pair)};
    }
    return plan.trials.front();
}

bool ProbePlanner::hasSameShape() const {
    return base_.original.grid == base_.candidate.grid &&
           base_.original.block == base_.candidate.block &&
           takesNumbersOf(base_.candidate, base_.original);
}

bool ProbePlanner::hasBlocksOfOwnWork() const {
    return !followsGrid(original_.kernel) && !followsGrid(candidate_.kernel);
}

void ProbePlanner::shrinkBaseGrid() {
    const Dim3& grid = base_.original.grid;
    const auto wanted = static_cast<std::uint32_t>(
        4 * smallThreads / static_cast<double>(base_.original.block.count()));
    if (grid.y != 1 || grid.z != 1 || !hasSameShape() || wanted == 0 || grid.x <= 4 * wanted ||
        !loopsOverGrid(original_.kernel) || !loopsOverGrid(candidate_.kernel))
        return;
    base_.original.grid.x = base_.candidate.grid.x = wanted;
}

} // namespace kernelskill::engine
