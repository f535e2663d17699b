/// Estimates how long a kernel takes on a GPU, from counts. The model ranks candidates where
/// nothing can be measured. It is never a verdict, and never evidence.
#pragma once

#include "engine/diagnosis/gpus.h"
#include "engine/diagnosis/interval.h"
#include "engine/diagnosis/roofline.h"
#include "engine/static_facts/static_facts.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// The time that one resource of the GPU would take alone.
struct CostPart {
    std::string_view name; ///< "memory", "arithmetic", "shared memory", "atomics", "latency"
    Interval seconds;
    bool operator==(const CostPart&) const = default;
};

struct CostEstimate {
    std::string onGpu; ///< "an H200"
    /// low: all parts overlap, each at its minimum. high: no parts overlap, each at its maximum.
    Interval seconds;
    std::vector<CostPart> parts;
    double minSeconds = 0; ///< The low end of the roofline: no kernel on the same data is faster.
    bool operator==(const CostEstimate&) const = default;
};

struct CostInput {
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Profile& profile; ///< A profile of the emulator: its times and percentages are not used.
    const Gpu& gpu;
    /// The facts for `gpu`'s architecture. If null, registers do not limit occupancy.
    const StaticFacts* facts = nullptr;
};

/// nullopt if the profile counts no global memory, or if a block of this size cannot be launched on
/// the GPU.
[[nodiscard]] std::optional<CostEstimate> costOf(const CostInput& input);

/// Whether the model expects `after` to be faster than `before` on the same problem: neither end of
/// the interval is later, and one is earlier by at least 2 %. A gain at one end with a loss at the
/// other does not count, because the model cannot say which end a kernel is near.
[[nodiscard]] bool isImprovement(const CostEstimate& before, const CostEstimate& after);

/// The geometric mean of the time ratios at both ends. It ranks improvements; it is not a promise.
[[nodiscard]] double modelledGain(const CostEstimate& before, const CostEstimate& after);

/// Whether no edit can gain more in the model: even without overlap the kernel takes at most a
/// quarter more time than its roofline. Always false for a kernel that takes less time than a
/// launch.
[[nodiscard]] bool isAtRoofline(const CostEstimate& cost);

/// "at least 2.6 us on an H200 (roofline of the counts, not measured); the model weighs latency
/// 61 %, memory 39 %". The time is the one that a profile's roofline says of the same counts.
[[nodiscard]] std::string describe(const CostEstimate& cost);
/// How much the model counts each part at its maximum, as shares whose sum is 1; the largest first.
[[nodiscard]] std::vector<std::pair<std::string_view, double>>
weightsOf(std::span<const CostPart> parts);
/// "latency 61 %, memory 39 %": the largest first, parts below one percent left out.
[[nodiscard]] std::string describeWeights(std::span<const CostPart> parts);

} // namespace kernelskill::engine
