#include "engine/review/schedule_check.h"

#include "engine/inputs/launch_pair.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr const char* checkName = "agrees in other orders of threads";
/// Interrupted threads are slower, and few threads show as much as many.
constexpr double maxThreads = 1 << 16;
/// About one in so many accesses is interrupted.
constexpr std::uint32_t interruption = 7;

struct NamedSchedule {
    const char* name;
    Schedule schedule;
};
constexpr std::array schedules = {
    NamedSchedule{"last thread first", {Schedule::Order::Reverse, 1, 0}},
    NamedSchedule{"random order, interrupted", {Schedule::Order::Random, 2, interruption}},
    NamedSchedule{"another random order, interrupted", {Schedule::Order::Random, 3, interruption}},
};

/// The contents of `outputs` that are in `names`.
std::vector<BufferContents> only(const std::vector<std::string>& names,
                                 const std::vector<BufferContents>& outputs) {
    std::vector<BufferContents> chosen;
    std::ranges::copy_if(outputs, std::back_inserter(chosen), [&](const BufferContents& output) {
        return std::ranges::find(names, output.name) != names.end();
    });
    return chosen;
}

/// The names of the outputs in which all `runs` agree.
std::vector<std::string> stableOutputs(const std::vector<const RunPair*>& runs,
                                       const Tolerance& tolerance) {
    std::vector<std::string> names;
    for (const BufferContents& output : runs.front()->original.outputs) {
        const std::vector<std::string> one{output.name};
        const bool agrees = std::ranges::all_of(runs, [&](const RunPair* run) {
            return compareOutputs({output}, only(one, run->original.outputs), tolerance).agrees;
        });
        if (agrees)
            names.push_back(output.name);
    }
    return names;
}

/// Gives each pair what the original showed in any of its orders: which of its races one order
/// shows is chance.
void uniteHazards(std::vector<std::pair<const char*, RunPair>>& pairs) {
    std::vector<Hazard> all;
    for (const auto& [schedule, pair] : pairs) {
        for (const Hazard& hazard : pair.original.profile.hazards) {
            const bool isKnown = std::ranges::any_of(all, [&](const Hazard& known) {
                return known.kind == hazard.kind && known.line == hazard.line &&
                       known.otherLine == hazard.otherLine && known.certain == hazard.certain &&
                       known.details.object == hazard.details.object &&
                       known.details.pair == hazard.details.pair &&
                       known.details.scope == hazard.details.scope;
            });
            if (!isKnown)
                all.push_back(hazard);
        }
    }
    for (auto& [schedule, pair] : pairs)
        pair.original.profile.hazards = all;
}

} // namespace

std::optional<std::size_t> trialForSchedules(const TrialPlan& plan, const Trial& built) {
    std::optional<std::size_t> best;
    const auto rank = [&](std::size_t number) {
        const LaunchSpec& launch = plan.trials[number].original;
        return std::pair(launch.grid.count() < 2, threadsOf(launch));
    };
    for (std::size_t number = 0; number < plan.trials.size(); ++number) {
        const LaunchSpec& launch = plan.trials[number].original;
        if (!runsSameInstances(plan.trials[number], built) || threadsOf(launch) > maxThreads)
            continue;
        if (!best || rank(number) < rank(*best))
            best = number;
    }
    return best;
}

CheckResult checkSchedules(const TrialRunner& runner, const Comparand& base,
                           const Closeness& closeness,
                           const std::vector<LessSynchronisation>& removed, bool isThorough,
                           EditEvidence* evidence) {
    std::vector<Comparand> batch;
    for (const NamedSchedule& named :
         std::span(schedules).first(isThorough ? schedules.size() : schedules.size() - 1)) {
        batch.push_back(base);
        batch.back().schedule = named.schedule;
    }
    std::vector<Runs> results = runner.runAll(batch);
    const TrialPlace place{
        base.trial->label,    base.trialNumber == 0, base.seedNumber, base.seed, false,
        base.trial->candidate};
    std::vector<std::pair<const char*, RunPair>> pairs;
    for (std::size_t i = 0; i < results.size(); ++i) {
        Runs& runs = results[i];
        if (!runs.original || !runs.candidate)
            continue;
        if (!*runs.candidate)
            return invalid(
                checkName,
                fmt::format("{}, {}: {}", base.trial->label, schedules[i].name,
                            runs.candidate->error().describe()),
                {.stage = ReviewStage::Run, .trial = place, .error = runs.candidate->error()});
        pairs.emplace_back(schedules[i].name, RunPair::of(std::move(runs)));
    }
    if (pairs.empty()) {
        if (removed.empty())
            return held(checkName, "left out: the original does not end in any of them");
        return invalid(checkName,
                       fmt::format("the edit removes {}, and the original ends in no other order "
                                   "of threads that would show that they are not needed",
                                   describe(removed)),
                       {.stage = ReviewStage::Reach});
    }
    uniteHazards(pairs);
    const auto named = [&](const char* schedule) {
        return fmt::format("{}, {}, {}", checkName, base.trial->label, schedule);
    };
    std::vector<const RunPair*> runs;
    for (const auto& [schedule, pair] : pairs) {
        if (CheckResult hazards = judgeHazards(named(schedule), place, pair, removed); !hazards)
            return hazards;
        runs.push_back(&pair);
    }
    const Tolerance tolerance =
        judgeOutputs(checkName, place, pairs.front().second, closeness).tolerance;
    const std::vector<std::string> stable = stableOutputs(runs, tolerance);
    const std::size_t all = pairs.front().second.original.outputs.size();
    for (auto& [schedule, pair] : pairs) {
        if (stable.empty())
            break;
        pair.original.outputs = only(stable, pair.original.outputs);
        pair.candidate.outputs = only(stable, pair.candidate.outputs);
        if (pair.truth && *pair.truth)
            pair.truth = only(stable, **pair.truth);
        OutputJudgement outputs = judgeOutputs(named(schedule), place, pair, closeness);
        if (!outputs.check)
            return outputs.check;
        if (evidence != nullptr)
            evidence->add(pair);
    }
    std::string detail =
        fmt::format("{}: {} of {} orders", base.trial->label, pairs.size(), results.size());
    if (stable.size() < all)
        detail += fmt::format("; {} of {} outputs of the original depend on the order of its "
                              "threads and were not compared",
                              all - stable.size(), all);
    if (!removed.empty())
        detail += fmt::format("; without {} no unordered accesses were seen", describe(removed));
    return held(checkName, std::move(detail));
}

} // namespace kernelskill::engine
