#include "engine/diagnosis/signals.h"

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::engine {
namespace {

struct Percent {
    const char* signal;
    const char* metric;
};
/// Nsight Compute's percentages of the peak that the unit can sustain.
constexpr auto percents = std::to_array<Percent>({
    {"dram_percent", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"l2_percent", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"l1_percent", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {"sm_percent", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"active_warps_percent", "sm__warps_active.avg.pct_of_peak_sustained_active"},
});

/// The percentage of the time of resident warps in which they wait for `reason`.
std::optional<double> stalled(const Metrics& metrics, const std::string& reason) {
    for (const char* ending : {".pct", ".avg.pct"})
        if (const auto found = findMetric(metrics, "smsp__warp_issue_stalled_" + reason +
                                                       "_per_warp_active" + ending))
            return found;
    // The warps that wait in an issue cycle, divided by the resident warps.
    const auto waiting = findMetric(metrics, "smsp__average_warps_issue_stalled_" + reason +
                                                 "_per_issue_active.ratio");
    const auto all = findMetric(metrics, "smsp__average_warp_latency_per_inst_issued.ratio");
    return waiting && all && *all > 0 ? std::optional(100 * *waiting / *all) : std::nullopt;
}

using Place = std::pair<std::string, std::uint32_t>;

/// The line with the most samples of warps that wait for `reason`, if lines were sampled.
std::optional<Place> worstLine(const Profile& profile, const std::string& reason) {
    std::optional<Place> worst;
    double most = 0;
    for (const LineMetrics& place : profile.lines) {
        const double here =
            findMetric(place.metrics, "smsp__pcsamp_warps_issue_stalled_" + reason).value_or(0);
        if (here > most) {
            most = here;
            worst = {place.file, place.line};
        }
    }
    return worst;
}

} // namespace

std::vector<Signal> measuredSignals(const DiagnosisInput& input) {
    std::vector<Signal> signals;
    if (input.profile == nullptr)
        return signals;
    const Metrics& metrics = input.profile->metrics;
    const auto add = [&](std::string name, std::optional<double> value,
                         const std::string& reason = {}) {
        if (!value)
            return;
        Signal& signal = signals.emplace_back();
        signal.name = std::move(name);
        signal.value = *value;
        signal.file = input.kernel.file;
        if (const auto line = worstLine(*input.profile, reason)) {
            signal.file = line->first;
            signal.line = line->second;
        }
    };
    for (const Percent& percent : percents)
        add(percent.signal, findMetric(metrics, percent.metric));
    const auto dram = findMetric(metrics, percents[0].metric);
    const auto cache = findMetric(metrics, percents[1].metric);
    if (dram || cache) {
        add("memory_percent", std::max(dram.value_or(0), cache.value_or(0)));
        signals.back().words["unit"] =
            dram.value_or(0) >= cache.value_or(0) ? percents[0].metric : percents[1].metric;
    }
    const auto farther = stalled(metrics, "long_scoreboard");
    const auto nearer = stalled(metrics, "short_scoreboard");
    if (farther || nearer) {
        add("memory_stall_percent", farther.value_or(0) + nearer.value_or(0), "long_scoreboard");
        signals.back().numbers = {{"long", farther.value_or(0)}, {"short", nearer.value_or(0)}};
    }
    add("barrier_stall_percent", stalled(metrics, "barrier"), "barrier");
    if (const auto time = findMetric(metrics, "gpu__time_duration.sum"))
        add("microseconds", *time / 1000);
    return signals;
}

} // namespace kernelskill::engine
