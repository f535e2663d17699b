#include "lsp-server/report/time_change_report.h"

#include "analysis/source/json.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/status_summary.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <string_view>

namespace kernelskill::lsp {

using engine::KernelTimeChange;
using engine::TimeChange;
using nlohmann::json;

json timeChangesJson(const std::vector<KernelTimeChange>& changes) {
    json list = json::array();
    for (const KernelTimeChange& change : changes)
        list.push_back({{"kernel", change.kernel},
                        {"status", spelling(change.change)},
                        {"before_microseconds", change.before},
                        {"after_microseconds", change.after},
                        {"speedup", change.speedup},
                        {"least", change.least},
                        {"most", change.most},
                        {"reason", change.reason},
                        {"text", timeChangeText(change)}});
    return list;
}

std::string timeChangeDetail(const KernelTimeChange& change) {
    const std::string times =
        fmt::format("{} to {}", durationText(change.before), durationText(change.after));
    switch (change.change) {
    case TimeChange::Same:
        return fmt::format("as fast as before, {}", durationText(change.after));
    case TimeChange::Faster:
    case TimeChange::Slower:
        return fmt::format("{:.2f} times as fast, {}", change.speedup, times);
    case TimeChange::Unsure:
        return fmt::format("not certain, {} ({})", times, change.reason);
    case TimeChange::New:
        return fmt::format("new, {}", durationText(change.after));
    case TimeChange::Gone:
        break;
    }
    return "not launched any more";
}

std::string timeChangeText(const KernelTimeChange& change) {
    return fmt::format("{}: {}", change.kernel, timeChangeDetail(change));
}

std::string timeChangesText(const std::vector<KernelTimeChange>& changes) {
    constexpr std::array order{TimeChange::Slower, TimeChange::Faster, TimeChange::Same,
                               TimeChange::Unsure, TimeChange::New,    TimeChange::Gone};
    std::vector<std::string_view> statuses;
    std::vector<std::string_view> names;
    std::string certain;
    for (const TimeChange each : order)
        names.push_back(spelling(each));
    for (const KernelTimeChange& change : changes) {
        statuses.push_back(spelling(change.change));
        if (change.change == TimeChange::Faster || change.change == TimeChange::Slower)
            certain += "; " + timeChangeText(change);
    }
    return statusSummary(statuses, names) + certain;
}

} // namespace kernelskill::lsp
