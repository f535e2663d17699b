#include "lsp-server/report/stall_text.h"

#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>

namespace kernelskill::lsp {
namespace {

constexpr std::string_view sampled = "smsp__pcsamp_warps_issue_stalled_";
constexpr double minPercent = 1;

struct Reason {
    std::string_view name;
    std::string_view meaning;
};
constexpr std::array reasons{
    Reason{"long_scoreboard", "waits for data of global, local or texture memory"},
    Reason{"short_scoreboard", "waits for data of shared memory or a special function"},
    Reason{"barrier", "waits at a barrier for other warps of the block"},
    Reason{"lg_throttle", "the queue of global and local memory instructions is full"},
    Reason{"mio_throttle", "the queue of shared memory and special functions is full"},
    Reason{"tex_throttle", "the queue of texture instructions is full"},
    Reason{"math_pipe_throttle", "the arithmetic unit that it needs is busy"},
    Reason{"wait", "a fixed latency of the instruction before"},
    Reason{"not_selected", "was ready, but another warp was chosen"},
    Reason{"selected", "issues: no stall"},
    Reason{"drain", "has ended and waits for its stores to leave"},
    Reason{"membar", "waits for a memory fence"},
    Reason{"branch_resolving", "waits for the target of a branch"},
    Reason{"no_instructions", "waits for its instructions to be fetched"},
    Reason{"imc_miss", "waits for constant memory"},
    Reason{"dispatch_stall", "the dispatcher holds it back"},
    Reason{"sleeping", "sleeps, as it was told to"},
    Reason{"gmma", "waits for the tensor cores"},
};

std::string_view meaningOf(std::string_view reason) {
    const auto found = std::ranges::find(reasons, reason, &Reason::name);
    return found == reasons.end() ? std::string_view() : found->meaning;
}

void addSamples(const engine::Metrics& metrics, std::map<std::string, double>& samples) {
    for (auto at = metrics.lower_bound(std::string(sampled));
         at != metrics.end() && at->first.starts_with(sampled); ++at)
        samples[at->first] += at->second;
}

std::vector<StallShare> sharesOf(const std::map<std::string, double>& samples, double total) {
    std::vector<StallShare> shares;
    for (const auto& [metric, count] : samples) {
        const std::string reason = metric.substr(sampled.size());
        const double percent = total > 0 ? 100 * count / total : 0;
        if (percent >= minPercent)
            shares.push_back({reason, metric, percent, meaningOf(reason)});
    }
    std::ranges::stable_sort(shares, std::ranges::greater{}, &StallShare::percent);
    return shares;
}

} // namespace

std::vector<StallShare> stallShares(const engine::Profile& profile) {
    std::map<std::string, double> samples;
    for (const engine::LineMetrics& line : profile.lines)
        addSamples(line.metrics, samples);
    double total = 0;
    for (const auto& [metric, count] : samples)
        total += count;
    return sharesOf(samples, total);
}

std::vector<StallShare> stallShares(const engine::LineMetrics& line) {
    const auto here = line.metrics.find(engine::metric::stallSamples);
    const auto percent = line.metrics.find(engine::metric::stallPercent);
    if (here == line.metrics.end() || percent == line.metrics.end() || percent->second <= 0)
        return {};
    std::map<std::string, double> samples;
    addSamples(line.metrics, samples);
    return sharesOf(samples, 100 * here->second / percent->second);
}

std::string describe(const StallShare& share) {
    return fmt::format("{} {:.0f} %{}", share.reason, share.percent,
                       share.meaning.empty() ? "" : fmt::format(" ({})", share.meaning));
}

} // namespace kernelskill::lsp
