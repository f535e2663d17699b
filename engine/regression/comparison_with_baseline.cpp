#include "engine/regression/comparison_with_baseline.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace kernelskill::engine {
namespace {

std::vector<ChangedCount> changedCounts(const Metrics& before, const Metrics& after,
                                        CountTolerance tolerance) {
    std::vector<ChangedCount> changed;
    const double part = tolerance.percent / 100;
    for (const CountedMetric& metric : countedMetrics()) {
        const double was = metricValue(before, metric.name);
        const double is = metricValue(after, metric.name);
        if (is > was * (1 + part) || is < was * (1 - part))
            changed.push_back({metric.words, metric.name, was, is});
    }
    return changed;
}

CountChange judge(const std::vector<ChangedCount>& counts, const CountedKernel& before,
                  const CountedKernel& after) {
    const bool hasRisen = std::ranges::any_of(
        counts, [](const ChangedCount& count) { return count.after > count.before; });
    const bool hasFallen = std::ranges::any_of(
        counts, [](const ChangedCount& count) { return count.after < count.before; });
    if (hasRisen && hasFallen) {
        const bool isLater =
            before.seconds && after.seconds && after.seconds->low > before.seconds->high;
        return isLater ? CountChange::Worse : CountChange::Mixed;
    }
    return hasRisen ? CountChange::Worse : hasFallen ? CountChange::Better : CountChange::Same;
}

/// Compares two versions of a kernel, both of which ran.
void compareRuns(const CountedKernel& before, const CountedKernel& after, CountTolerance tolerance,
                 CountedKernelChange& change) {
    std::vector<std::string> hazards;
    std::ranges::set_difference(after.hazards, before.hazards, std::back_inserter(hazards));
    if (!hazards.empty()) {
        change.change = CountChange::Worse;
        change.reason = fmt::format("it has a new hazard: {}", fmt::join(hazards, ", "));
        return;
    }
    if (before.problem != after.problem) {
        change.change = CountChange::NotComparable;
        change.reason = fmt::format("it was counted on another problem: {}; now {}", before.problem,
                                    after.problem);
        return;
    }
    change.counts = changedCounts(before.counts, after.counts, tolerance);
    change.change = judge(change.counts, before, after);
    if (before.launch != after.launch)
        change.reason = fmt::format("its launch was {}; it is {}", before.launch, after.launch);
}

} // namespace

std::string_view spelling(CountChange change) {
    switch (change) {
    case CountChange::Same:
        return "same";
    case CountChange::Better:
        return "better";
    case CountChange::Worse:
        return "worse";
    case CountChange::Mixed:
        return "mixed";
    case CountChange::New:
        return "new";
    case CountChange::Removed:
        return "removed";
    case CountChange::NotComparable:
        return "not-comparable";
    case CountChange::NotRun:
        break;
    }
    return "not-run";
}

CountedKernelChange compareCounts(const CountedKernel* before, const CountedKernel* after,
                                  CountTolerance tolerance) {
    const CountedKernel& named = after != nullptr ? *after : *before;
    CountedKernelChange change{named.file, named.kernel, CountChange::Same, {}, {}};
    if (after == nullptr) {
        change.change = CountChange::Removed;
    } else if (before == nullptr) {
        change.change = CountChange::New;
        change.reason = after->failure;
    } else if (!after->failure.empty()) {
        change.change = before->failure.empty() ? CountChange::Worse : CountChange::NotRun;
        change.reason = after->failure;
    } else if (!before->failure.empty()) {
        change.change = CountChange::Better;
        change.reason = "it can be run now";
    } else {
        compareRuns(*before, *after, tolerance, change);
    }
    return change;
}

std::vector<CountedKernelChange> compareWithBaseline(const Baseline& baseline, const Baseline& now,
                                                     CountTolerance tolerance) {
    std::vector<CountedKernelChange> changes;
    for (const CountedKernel& kernel : now.kernels)
        changes.push_back(
            compareCounts(baseline.find(kernel.file, kernel.kernel), &kernel, tolerance));
    for (const CountedKernel& kernel : baseline.kernels)
        if (now.find(kernel.file, kernel.kernel) == nullptr)
            changes.push_back(compareCounts(&kernel, nullptr, tolerance));
    if (baseline.tool == now.tool)
        return changes;
    for (CountedKernelChange& change : changes) {
        const bool isJudged = change.change == CountChange::Worse ||
                              change.change == CountChange::Better ||
                              change.change == CountChange::Mixed;
        if (!isJudged || change.counts.empty())
            continue;
        change.change = CountChange::NotComparable;
        change.reason = fmt::format("version {} counted before, version {} now; --update writes "
                                    "the baseline anew",
                                    baseline.tool, now.tool);
    }
    return changes;
}

} // namespace kernelskill::engine
