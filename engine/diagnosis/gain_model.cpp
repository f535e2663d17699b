#include "engine/diagnosis/gain_model.h"

#include "analysis/source/gpu_constants.h"
#include "engine/diagnosis/roofline.h"
#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr double nanoseconds = 1e-9;

class GainModel {
public:
    GainModel(const Signal& leading, const DiagnosisInput& input, double launchSeconds)
        : leading_(leading), input_(input), metrics_(input.profile->metrics),
          launchSeconds_(launchSeconds) {
        if (const auto counts = rooflineCounts(input.kernel, input.features, *input.profile)) {
            counts_ = *counts;
            roofline_ = rooflineOf(*counts, input.gpu);
        }
    }

    [[nodiscard]] std::optional<Gain> of(BottleneckKind kind) const {
        switch (kind) {
        case BottleneckKind::UncoalescedAccess:
            return upTo(trafficFactor(), "all sectors moved over those that the same bytes fill");
        case BottleneckKind::BankConflicts:
            return upTo(conflictFactor(),
                        "wavefronts at one a clock and the least time for the bytes, over the same "
                        "without conflicts");
        case BottleneckKind::Divergence:
            return upTo(idleLaneFactor(), "32 lanes over those active on average");
        case BottleneckKind::Synchronization:
            return leading_.name == "atomic_lanes_per_address"
                       ? upTo(leading_.value, "lanes that take turns, over one")
                       : std::nullopt;
        case BottleneckKind::Occupancy:
            return occupancy();
        case BottleneckKind::LaunchOverhead:
            return roofline_ ? upTo(1 + launchSeconds_ / roofline_->seconds.low,
                                    "launch and least kernel time over the latter alone")
                             : std::nullopt;
        case BottleneckKind::TensorCoreEligible:
            return tensorCores();
        case BottleneckKind::MemoryBandwidth:
        case BottleneckKind::Compute:
        case BottleneckKind::Balanced:
            return spanOfRoofline();
        // Without counters, the number of spills at run time is unknown.
        case BottleneckKind::RegisterSpill:
            return leading_.name == "local_traffic_percent" && leading_.value < 100
                       ? upTo(100 / (100 - leading_.value),
                              "sectors of global and local memory over those of global memory")
                       : std::nullopt;
        case BottleneckKind::MemoryLatency: // No count measures latency.
            break;
        }
        return std::nullopt;
    }

private:
    [[nodiscard]] std::optional<Gain> upTo(double factor, std::string basis) const {
        const double measured = metricValue(metrics_, "gpu__time_duration.sum") * nanoseconds;
        if (measured > 0 && roofline_ && measured / roofline_->seconds.low < factor) {
            factor = measured / roofline_->seconds.low;
            basis = "measured time over the least for the same bytes and operations";
        }
        if (factor < 1.005) // Both ends would read as one number.
            return std::nullopt;
        return Gain{{1, factor}, std::move(basis)};
    }

    [[nodiscard]] double trafficFactor() const {
        double moved = 0;
        double needed = 0;
        for (const LineMetrics& place : input_.profile->lines) {
            for (const metric::AccessNames* access : metric::accesses) {
                const double sectors = metricValue(place.metrics, access->globalSectors);
                const double least = std::max(metricValue(place.metrics, access->globalBytes) /
                                                  analysis::sectorBytes,
                                              metricValue(place.metrics, access->globalRequests));
                moved += sectors;
                needed += std::min(sectors, least);
            }
        }
        return needed > 0 ? moved / needed : 1;
    }

    [[nodiscard]] double conflictFactor() const {
        double wavefronts = 0;
        double conflicts = 0;
        for (const metric::AccessNames* access : metric::accesses) {
            wavefronts += metricValue(metrics_, access->sharedWavefronts);
            conflicts += metricValue(metrics_, access->sharedConflicts);
        }
        if (wavefronts <= conflicts)
            return 1;
        const double busy = std::min<double>(
            input_.gpu.multiprocessors, static_cast<double>(input_.profile->launch.grid.count()));
        const double clocks = busy * input_.gpu.boostHertz;
        const double before = wavefronts / clocks;
        const double after = (wavefronts - conflicts) / clocks;
        const double rest = roofline_ ? roofline_->seconds.low : 0;
        // Either overlapping with the rest of the kernel, or one after the other.
        return std::max(std::max(before, rest) / std::max(after, rest),
                        (before + rest) / (after + rest));
    }

    [[nodiscard]] double idleLaneFactor() const {
        const double active = metricValue(metrics_, metric::activeThreads);
        return active > 0 ? analysis::warpLanes / active : 1;
    }

    /// Memory and arithmetic overlap; each end uses the shortest or the longest time of both.
    [[nodiscard]] std::optional<Gain> spanOfRoofline() const {
        if (!roofline_ ||
            leading_.name == "branches_over_memory") // The roofline does not count integer work.
            return std::nullopt;
        const double before = std::max(roofline_->memory.high, roofline_->arithmetic.high);
        return upTo(before / roofline_->seconds.low,
                    before == roofline_->memory.high
                        ? "all sectors at copy speed, over each byte once at the peak"
                        : "operations as they are, over all of them fused at the peak");
    }

    [[nodiscard]] std::optional<Gain> occupancy() const {
        if (leading_.value <= 0)
            return std::nullopt;
        if (leading_.name == "blocks_per_multiprocessor")
            return upTo(1 / leading_.value, "all multiprocessors over those with a block");
        return upTo(100 / leading_.value, "warp slots over those filled");
    }

    [[nodiscard]] std::optional<Gain> tensorCores() const {
        if (!roofline_ || !counts_.operations)
            return std::nullopt;
        const double least = std::max(counts_.uniqueBytes / input_.gpu.memoryBytesPerSecond,
                                      counts_.operations->sum() / input_.gpu.tensorFlops);
        const double factor = roofline_->seconds.high / least;
        return factor > 1
                   ? std::optional(Gain{{1, factor},
                                        "upper end of the estimated time over the least for "
                                        "the bytes, or for 16-bit tensor cores at their peak"})
                   : std::nullopt;
    }

    const Signal& leading_;
    const DiagnosisInput& input_;
    const Metrics& metrics_;
    double launchSeconds_;
    RooflineCounts counts_;
    std::optional<Roofline> roofline_;
};

} // namespace

std::optional<Gain> gainOf(BottleneckKind kind, const Signal& leading, const DiagnosisInput& input,
                           double launchSeconds) {
    if (input.profile == nullptr) // Nothing was counted.
        return std::nullopt;
    return GainModel(leading, input, launchSeconds).of(kind);
}

std::string describe(const Gain& gain) {
    return fmt::format("at most {:.3g} times as fast (model: {})", gain.factor.high, gain.basis);
}

std::string_view headroomOf(const Gain& gain) {
    constexpr double atSixtyPercent = 1 / 0.6;
    constexpr double atEightyPercent = 1 / 0.8;
    if (gain.factor.high > atSixtyPercent)
        return "high";
    return gain.factor.high > atEightyPercent ? "medium" : "low";
}

} // namespace kernelskill::engine
