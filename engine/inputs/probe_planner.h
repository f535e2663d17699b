/// Plans the probes of a review. For planProbes() alone; each kind of probe has a file of its own.
#pragma once

#include "engine/inputs/input_style.h"
#include "engine/inputs/launch_follower.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/launch_sizes.h"
#include "engine/inputs/probe.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace kernelskill::engine {

/// Threads of a probe whose blocks all run.
inline constexpr double maxProbeThreads = 1 << 12;
/// The max threads of a launch that is also tried with other values.
inline constexpr double maxValueThreads = 16 * maxProbeThreads;

class ProbePlanner {
public:
    /// Keeps references to the files, kernels and `plan`.
    ProbePlanner(KernelInFile original, KernelInFile candidate, const TrialPlan& plan,
                 skills::Numerics numerics, std::uint64_t seed);

    /// Plans all probes. It may be called once. `passed` as of planProbes().
    [[nodiscard]] ProbePlan plan(const std::map<std::string, std::int64_t>& passed);

private:
    using Extents = LaunchSizes::Extents;
    struct Distance;

    void addSizes();
    void addScalars();
    void addPassed(const std::map<std::string, std::int64_t>& passed);
    void addClassNumbers();
    void addGrids();
    [[nodiscard]] bool hasUnequalShares(std::uint32_t Dim3::* axis) const;
    void addFewerBlocks();
    void addFilledGrids();
    void addBlocks();
    void addCollisions();
    void addLargeValues();
    void addTinyValues();
    void addValues();
    void addEqualPointers();
    [[nodiscard]] std::optional<Trial> launchToShift() const;
    void addShiftedBuffers();
    void addDistantBlocks();
    void addDistant(const Distance& distance);

    [[nodiscard]] std::vector<std::int64_t> interestingSizes(std::int64_t most) const;
    [[nodiscard]] bool hasSameShape() const;
    [[nodiscard]] bool hasBlocksOfOwnWork() const;
    /// The candidate's launch at the size of `original`, which has these extents.
    [[nodiscard]] std::optional<LaunchSpec> candidateAt(const LaunchSpec& original,
                                                        const Extents& extents) const;
    /// The first trial, or the same launch with fewer threads.
    [[nodiscard]] Trial smallest(const TrialPlan& plan);
    /// Takes blocks from base_ if it is large and both kernels loop over the grid.
    void shrinkBaseGrid();
    /// Returns the extents of the probe that it adds: a grid may cover less than `extents`.
    std::optional<Extents> addSize(const Extents& extents);
    std::set<std::int64_t> addSingleSizes();
    std::set<std::int64_t> addLongSizes(std::int64_t most);
    /// Whether the base's launch is too large for further values.
    [[nodiscard]] bool isLarge() const { return threadsOf(base_.original) > maxValueThreads; }
    void add(LaunchSpec original, LaunchSpec candidate);
    void add(LaunchSpec original, LaunchSpec candidate, InputStyle style);

    KernelInFile original_;
    KernelInFile candidate_;
    const LaunchSpec& statedOriginal_; ///< At the file's own size.
    const LaunchSpec& stated_;         ///< The candidate's.
    /// Follows launches that are guessed, or that follow from numbers alone; nullopt: not needed.
    std::optional<LaunchFollower> follower_;
    ValueDictionary dictionary_;
    StyleBounds bounds_;
    LaunchSizes sizes_;
    LaunchSizes candidateSizes_;
    std::mt19937_64 random_;
    Extents baseExtents_; ///< The extents of base_.
    Trial base_;          ///< Probes that keep the size start from it.
    const Trial& whole_;
    std::size_t styled_ = 0;
    std::map<InputStyle, std::size_t> turns_; ///< Launches of each style.
    ProbePlan plan_;
};

} // namespace kernelskill::engine
