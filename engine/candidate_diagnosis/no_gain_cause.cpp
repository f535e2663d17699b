#include "engine/candidate_diagnosis/no_gain_cause.h"

#include "engine/execution/metric_names.h"
#include "engine/optimization/candidate_decision.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A smaller relative change may come from another order of threads.
constexpr double changeThatCounts = 0.02;

/// Metrics that form one quantity together; less is better.
struct Counter {
    const char* label;
    std::array<const char*, 3> metrics;
    std::string_view part; ///< The part of the cost model that it delays.
    const char* cause;
    const char* invariant;
    const char* repair;
};
constexpr std::array<Counter, 8> counters{{
    {"global sectors",
     {metric::load.globalSectors, metric::store.globalSectors, nullptr},
     "memory",
     "more-sectors",
     "no more sectors are moved for the same data",
     "let neighbouring lanes access neighbouring words"},
    {"global requests",
     {metric::load.globalRequests, metric::store.globalRequests, nullptr},
     "latency",
     "more-requests",
     "no more memory instructions are issued for the same data",
     "keep repeatedly loaded values in registers, or load wider words"},
    {"shared-memory wavefronts",
     {metric::load.sharedWavefronts, metric::store.sharedWavefronts, nullptr},
     "shared memory",
     "bank-conflicts",
     "lanes of a request keep to different banks",
     "pad the array's rows by one word, or swizzle its columns"},
    {"local-memory instructions",
     {metric::localLoads, metric::localStores, nullptr},
     "",
     "register-spill",
     "a thread's values fit its registers",
     "unroll or block less"},
    {"turns of atomics",
     {metric::atomicSerializations, nullptr, nullptr},
     "atomics",
     "atomics",
     "no more lanes take turns on one address",
     "combine within a warp or a block first"},
    {"barriers",
     {metric::barriers, nullptr, nullptr},
     "latency",
     "synchronization",
     "blocks wait no more often than before",
     "remove barriers from loops by double buffering"},
    {"divergent branches",
     {metric::divergentBranchTargets, nullptr, nullptr},
     "",
     "divergence",
     "lanes of a warp take the same branch as often as before",
     "let the condition depend on the warp, not on the lane"},
    {"floating-point operations",
     {metric::floatingOperations, nullptr, nullptr},
     "arithmetic",
     "more-arithmetic",
     "no value is computed more often than before",
     "compute values once that several iterations or threads need"},
}};

std::optional<double> total(const Counter& counter, const Metrics& metrics) {
    std::optional<double> sum;
    for (const char* name : counter.metrics) {
        const auto found = name == nullptr ? metrics.end() : metrics.find(name);
        if (found != metrics.end())
            sum = sum.value_or(0) + found->second;
    }
    return sum;
}

/// A quantity in both profiles, and the factor by which it got worse; 1 if it is the same.
struct Change {
    double factor = 1;
    std::string_view part; ///< As Counter::part; empty if the model does not contain it.
    std::string text;
    CandidateDiagnosis diagnosis;

    [[nodiscard]] bool isWorse() const { return factor > 1 + changeThatCounts; }
    [[nodiscard]] bool isBetter() const { return factor < 1 - changeThatCounts; }
};

double ratio(double before, double after) {
    if (before == after)
        return 1;
    return before > 0 ? after / before : std::numeric_limits<double>::infinity();
}

void addCounters(std::vector<Change>& changes, const Metrics& before, const Metrics& after) {
    for (const Counter& counter : counters) {
        const auto old = total(counter, before);
        const auto now = total(counter, after);
        if (!old || !now)
            continue;
        Change change;
        change.factor = ratio(*old, *now);
        change.part = counter.part;
        change.text = fmt::format("{} {:.0f} -> {:.0f}", counter.label, *old, *now);
        change.diagnosis.cause = counter.cause;
        change.diagnosis.invariant = counter.invariant;
        change.diagnosis.repair = counter.repair;
        changes.push_back(std::move(change));
    }
}

void addSpills(std::vector<Change>& changes, const StaticFacts& before, const StaticFacts& after) {
    const auto spilled = [](const StaticFacts& facts) {
        return static_cast<double>(facts.spillStoreBytes + facts.spillLoadBytes);
    };
    Change change;
    change.factor = ratio(spilled(before), spilled(after));
    change.text = fmt::format("spilled bytes a thread {:.0f} -> {:.0f} ({} -> {} registers)",
                              spilled(before), spilled(after), before.registers, after.registers);
    change.diagnosis.cause = "register-spill";
    change.diagnosis.invariant = "a thread's values fit its registers";
    change.diagnosis.repair = "unroll or block less, or ask for fewer resident blocks";
    changes.push_back(std::move(change));
}

std::string occupancyRepair(const analysis::Occupancy& occupancy) {
    if (occupancy.fewerRegisters)
        return fmt::format("{} fewer registers a thread would let {:.0f} % of the warps in: unroll "
                           "or block less, or bound them by __launch_bounds__",
                           occupancy.fewerRegisters->fewer, occupancy.fewerRegisters->percent);
    if (occupancy.fewerSharedBytes)
        return fmt::format("{} bytes less shared memory a block would let {:.0f} % of the warps in",
                           occupancy.fewerSharedBytes->fewer, occupancy.fewerSharedBytes->percent);
    return {};
}

void addOccupancy(std::vector<Change>& changes, const Standing& before, const Standing& after) {
    const analysis::Occupancy& old = *before.occupancy;
    const analysis::Occupancy& now = *after.occupancy;
    std::vector<std::string_view> limits;
    for (const analysis::OccupancyLimiter limiter : now.limiters)
        limits.push_back(spelling(limiter));
    Change change;
    change.factor = ratio(now.percent, old.percent);
    change.part = "latency";
    change.text = fmt::format("warps that fit {:.0f} % -> {:.0f} %, limited by {} ({} -> {} "
                              "registers a thread)",
                              old.percent, now.percent, fmt::join(limits, " and "),
                              before.facts->registers, after.facts->registers);
    change.diagnosis.cause = "occupancy";
    change.diagnosis.invariant = "as many warps are resident as before";
    change.diagnosis.repair = occupancyRepair(now);
    changes.push_back(std::move(change));
}

std::vector<Change> changesBetween(const DroppedCandidate& dropped) {
    std::vector<Change> changes;
    const Standing& before = dropped.standingBefore;
    const Standing* after = dropped.standingAfter;
    if (after != nullptr && before.profile && after->profile &&
        before.profile->executor == after->profile->executor)
        addCounters(changes, before.profile->metrics, after->profile->metrics);
    else
        addCounters(changes, dropped.verdict.before, dropped.verdict.after);
    if (after != nullptr && before.facts && after->facts) {
        addSpills(changes, *before.facts, *after->facts);
        if (before.occupancy && after->occupancy)
            addOccupancy(changes, before, *after);
    }
    std::ranges::stable_sort(changes, std::ranges::greater{}, &Change::factor);
    return changes;
}

/// Whether the cost model, if it judged, says that this change costs time.
bool isCostly(const Change& change, const DroppedCandidate& dropped) {
    const Standing* after = dropped.standingAfter;
    const bool isModelled = dropped.verdict.status == VerdictStatus::Unmeasured &&
                            dropped.standingBefore.cost && after != nullptr && after->cost;
    if (!isModelled || change.part.empty())
        return true;
    const auto latest = [&](const CostEstimate& cost) {
        const auto part = std::ranges::find(cost.parts, change.part, &CostPart::name);
        return part == cost.parts.end() ? 0 : part->seconds.high;
    };
    const CostEstimate& before = *dropped.standingBefore.cost;
    return latest(*after->cost) - latest(before) > changeThatCounts * before.seconds.high;
}

/// The reason why the candidate cannot run on the GPU at all.
std::optional<CandidateDiagnosis> refusal(const DroppedCandidate& dropped) {
    const Standing* after = dropped.standingAfter;
    if (after == nullptr)
        return std::nullopt;
    if (!after->compilerRefusal.empty() && dropped.standingBefore.compilerRefusal.empty())
        return CandidateDiagnosis{"gpu-compiler-refuses",
                                  "the GPU's compiler refuses it",
                                  {after->compilerRefusal},
                                  "code that compiled before compiles with the edit",
                                  ""};
    if (!after->facts || !after->launch)
        return std::nullopt;
    const auto fits = occupancyOf(*after->facts, *after->launch);
    if (fits)
        return std::nullopt;
    return CandidateDiagnosis{"launch-resources",
                              "a block of it cannot be launched on the GPU",
                              {fits.error().describe()},
                              "a block fits on a multiprocessor",
                              "use less shared memory or fewer registers a block, or a smaller "
                              "block"};
}

} // namespace

std::optional<CandidateDiagnosis> noGainCause(const DroppedCandidate& dropped) {
    if (auto refused = refusal(dropped))
        return refused;
    const Standing* after = dropped.standingAfter;
    const bool isOtherProblem = after != nullptr && after->launch &&
                                dropped.standingBefore.launch &&
                                !isSameProblem(*dropped.standingBefore.launch, *after->launch);
    if (isOtherProblem)
        return std::nullopt;
    const std::vector<Change> changes = changesBetween(dropped);
    if (changes.empty())
        return std::nullopt;
    CandidateDiagnosis found;
    std::vector<std::string> worse;
    std::vector<std::string> better;
    const Change* cause = nullptr;
    for (const Change& change : changes) {
        if (change.isWorse())
            worse.push_back(change.text);
        if (change.isBetter())
            better.push_back(change.text);
        if (cause == nullptr && change.isWorse() && isCostly(change, dropped))
            cause = &change;
    }
    if (cause != nullptr) {
        found = cause->diagnosis;
        found.sentence = "something got worse: " + cause->text;
        found.evidence = std::move(worse);
        return found;
    }
    found.evidence = better;
    found.evidence.insert(found.evidence.end(), worse.begin(), worse.end());
    if (better.empty()) {
        found.cause = "no-effect";
        found.sentence = worse.empty() ? "nothing that is counted got better or worse"
                                       : "nothing that is counted got better";
        found.repair = dropped.verdict.speedup ? "" : "measure it on a GPU, which counts more";
        return found;
    }
    const auto& bottleneck = dropped.standingBefore.bottleneck;
    found.cause = "not-the-bottleneck";
    found.sentence = fmt::format("the improved quantity does not limit the kernel{}",
                                 bottleneck ? fmt::format(", {}", spelling(bottleneck->kind)) : "");
    return found;
}

} // namespace kernelskill::engine
