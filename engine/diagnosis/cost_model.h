/// How long a kernel takes on a GPU as far as counts can tell. A model, to rank candidates by where
/// nothing can be measured: it is never a verdict, and never evidence.
#pragma once

#include "engine/diagnosis/gpus.h"
#include "engine/diagnosis/interval.h"
#include "engine/diagnosis/roofline.h"
#include "engine/static_facts/static_facts.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// What one resource of the GPU takes, were it alone.
struct CostPart {
    std::string_view name; ///< "memory", "arithmetic", "shared memory", "atomics", "latency"
    Interval seconds;
    bool operator==(const CostPart&) const = default;
};

struct CostEstimate {
    std::string onGpu; ///< "an H200"
    /// low: all parts side by side, each at its least. high: one after the other, each at its most.
    Interval seconds;
    std::vector<CostPart> parts;
    double minSeconds = 0; ///< Of the roofline: no kernel on the same data takes less.
    bool operator==(const CostEstimate&) const = default;
};

struct CostInput {
    const analysis::KernelModel& kernel;
    const analysis::Features& features;
    const Profile& profile; ///< Of the emulator: time and percents are not looked at.
    const Gpu& gpu;
    /// Of `gpu`'s architecture. Null: registers limit nothing.
    const StaticFacts* facts = nullptr;
};

/// nullopt where the profile counts no global memory, or such a block cannot be launched on the
/// GPU.
[[nodiscard]] std::optional<CostEstimate> costOf(const CostInput& input);

/// Whether the model holds `after` to be faster than `before`, of the same problem: neither end of
/// the interval is later, and one is earlier by at least 2 %. What gains at one end and loses at
/// the other is not: the model cannot say which end a kernel is near.
[[nodiscard]] bool isImprovement(const CostEstimate& before, const CostEstimate& after);

/// The ratio of both ends' times, its geometric mean: to rank improvements, not to promise one.
[[nodiscard]] double modelledGain(const CostEstimate& before, const CostEstimate& after);

/// Whether nothing that an edit can do is left in the model: even with nothing side by side the
/// kernel takes at most a quarter more than its roofline. Never of one that takes less than a
/// launch.
[[nodiscard]] bool isAtRoofline(const CostEstimate& cost);

/// "model, not measured: 2.6 us to 8.1 us on an H200 (memory 2.6 us to 2.9 us, latency ...)"
[[nodiscard]] std::string describe(const CostEstimate& cost);
/// "14 us to 56 us"
[[nodiscard]] std::string describeSeconds(const Interval& seconds);

} // namespace kernelskill::engine
