#include "engine/whole_program/run_comparison.h"

#include "engine/capture/kernel_symbol.h"
#include "engine/review/timing_verdict.h"
#include "engine/whole_program/program_profile.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The index of the kept launch `at`: somewhere in the part of all launches that belongs to it. If
/// it were always at the same place, kernels that take turns with short and long launches would
/// keep one kind alone.
std::size_t keptIndex(std::size_t at, std::size_t count) {
    const double goldenRatio = std::numbers::phi;
    const double turns = static_cast<double>(at) * goldenRatio;
    const double place = static_cast<double>(at) + turns - std::floor(turns);
    return static_cast<std::size_t>(place * static_cast<double>(count) /
                                    static_cast<double>(maxKeptLaunches));
}

std::map<std::string, double> sumsOf(std::span<const LaunchTimes> runs) {
    std::map<std::string, double> sums;
    for (const LaunchTimes& run : runs)
        for (const auto& [kernel, launches] : run)
            sums[kernel] += launches.total;
    return sums;
}

/// The number of launches if it is the same in all runs; else 0.
std::uint64_t steadyLaunches(std::span<const LaunchTimes> runs, const std::string& kernel) {
    std::set<std::uint64_t> counts;
    for (const LaunchTimes& run : runs) {
        const auto found = run.find(kernel);
        counts.insert(found == run.end() ? 0 : found->second.count);
    }
    return counts.size() == 1 ? *counts.begin() : 0;
}

/// One value for each kept launch, or for each run if `sums`.
std::vector<double> valuesOf(std::span<const LaunchTimes> runs, const std::string& kernel,
                             bool sums) {
    std::vector<double> values;
    for (const LaunchTimes& run : runs) {
        const auto found = run.find(kernel);
        if (found == run.end())
            continue;
        if (sums)
            values.push_back(found->second.total);
        else
            std::ranges::copy(found->second.times, std::back_inserter(values));
    }
    return values;
}

TimeChange changeOf(const TimingVerdict& verdict, std::size_t rounds) {
    constexpr double low = 1 / (1 + runNoise);
    constexpr double high = 1 + runNoise;
    if (rounds < minRounds)
        return TimeChange::Unsure;
    if (verdict.least > high)
        return TimeChange::Faster;
    if (verdict.most < low)
        return TimeChange::Slower;
    return verdict.least >= low && verdict.most <= high ? TimeChange::Same : TimeChange::Unsure;
}

/// The median of each run.
std::vector<double> mediansOf(std::span<const LaunchTimes> runs, const std::string& kernel) {
    std::vector<double> medians;
    for (const LaunchTimes& run : runs)
        if (const auto found = run.find(kernel); found != run.end())
            medians.push_back(summarise(found->second.times).median);
    return medians;
}

/// Whether each run of one side is faster than each of the other: launches of one run share the
/// state of the GPU, so that their number alone proves nothing.
bool areApart(std::span<const LaunchTimes> before, std::span<const LaunchTimes> after,
              const std::string& kernel) {
    const auto was = std::ranges::minmax(mediansOf(before, kernel));
    const auto is = std::ranges::minmax(mediansOf(after, kernel));
    return is.max < was.min || was.max < is.min;
}

/// Compares a kernel that both sides have launched.
KernelTimeChange compare(std::span<const LaunchTimes> before, std::span<const LaunchTimes> after,
                         const std::string& kernel) {
    const std::uint64_t launches = steadyLaunches(before, kernel);
    const bool areSums = launches == 0 || launches != steadyLaunches(after, kernel);
    const auto was = valuesOf(before, kernel, areSums);
    const auto is = valuesOf(after, kernel, areSums);
    const std::size_t rounds = std::min(was.size(), is.size());
    const TimingVerdict verdict = judgeTimes(was, is, std::nullopt);
    KernelTimeChange result{kernel,
                            changeOf(verdict, rounds),
                            summarise(was).median,
                            summarise(is).median,
                            verdict.speedup,
                            verdict.least,
                            verdict.most,
                            {}};
    const bool hasChanged =
        result.change == TimeChange::Faster || result.change == TimeChange::Slower;
    if (hasChanged && !areSums && !areApart(before, after, kernel)) {
        result.change = TimeChange::Unsure;
        result.reason = "runs of one version differ by as much";
    }
    if (result.change != TimeChange::Unsure || !result.reason.empty())
        return result;
    if (rounds < minRounds)
        result.reason = fmt::format("{} {}{} compared; from {} on a difference can be certain",
                                    rounds, areSums ? "run" : "launch",
                                    rounds == 1 ? " is"
                                    : areSums   ? "s are"
                                                : "es are",
                                    minRounds);
    else
        result.reason =
            fmt::format("between {:.3g} and {:.3g} times as fast", verdict.least, verdict.most);
    return result;
}

} // namespace

KernelLaunches launchesWith(std::vector<double> times) {
    KernelLaunches launches{times.size(), std::accumulate(times.begin(), times.end(), 0.0),
                            std::move(times)};
    if (launches.times.size() <= maxKeptLaunches)
        return launches;
    std::vector<double> kept;
    for (std::size_t i = 0; i < maxKeptLaunches; ++i)
        kept.push_back(launches.times[keptIndex(i, launches.times.size())]);
    launches.times = std::move(kept);
    return launches;
}

LaunchTimes launchTimesOf(std::span<const DeviceActivity> activities) {
    std::map<std::string, std::string> names; // By symbol: a kernel may have a million launches.
    std::map<std::string, std::vector<double>> times;
    for (const DeviceActivity& activity : activities) {
        if (activity.kind != ActivityKind::Kernel)
            continue;
        const auto [name, isNew] = names.try_emplace(activity.name);
        if (isNew)
            name->second = kernelSymbol(activity.name).qualifiedName;
        const auto nanoseconds = std::max<std::uint64_t>(activity.nanoseconds(), 1);
        times[name->second].push_back(static_cast<double>(nanoseconds) * 1e-3);
    }
    LaunchTimes launches;
    for (auto& [kernel, values] : times)
        launches.emplace(kernel, launchesWith(std::move(values)));
    return launches;
}

bool isEnough(std::span<const LaunchTimes> runs) {
    if (runs.size() < minRuns)
        return false;
    const auto sums = sumsOf(runs);
    double whole = 0;
    for (const auto& [kernel, sum] : sums)
        whole += sum;
    return std::ranges::all_of(sums, [&](const auto& entry) {
        return entry.second < hotShare * whole ||
               valuesOf(runs, entry.first, false).size() >= minRounds;
    });
}

std::string_view spelling(TimeChange change) {
    switch (change) {
    case TimeChange::Same:
        return "same";
    case TimeChange::Faster:
        return "faster";
    case TimeChange::Slower:
        return "slower";
    case TimeChange::Unsure:
        return "unsure";
    case TimeChange::New:
        return "new";
    case TimeChange::Gone:
        break;
    }
    return "gone";
}

std::vector<KernelTimeChange> compareRuns(std::span<const LaunchTimes> before,
                                          std::span<const LaunchTimes> after) {
    const auto sums = sumsOf(after);
    const auto earlier = sumsOf(before);
    std::vector<KernelTimeChange> changes;
    for (const auto& [kernel, sum] : sums) {
        if (earlier.contains(kernel)) {
            changes.push_back(compare(before, after, kernel));
            continue;
        }
        KernelTimeChange added{kernel, TimeChange::New};
        added.after = summarise(valuesOf(after, kernel, false)).median;
        changes.push_back(std::move(added));
    }
    std::ranges::stable_sort(changes, std::ranges::greater{}, [&](const KernelTimeChange& change) {
        return sums.at(change.kernel);
    });
    for (const auto& [kernel, sum] : earlier) {
        if (sums.contains(kernel))
            continue;
        KernelTimeChange gone{kernel, TimeChange::Gone};
        gone.before = summarise(valuesOf(before, kernel, false)).median;
        changes.push_back(std::move(gone));
    }
    return changes;
}

} // namespace kernelskill::engine
