/// Looks for telling runs where those on the usual values show little: all results are zero, NaN or
/// equal, or edited code is not reached.
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/mixed_values.h"
#include "engine/review/control.h"
#include "engine/review/review.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The max number of mixtures. Some ten are enough if two or three buffers have to have one kind of
/// values each.
constexpr std::size_t maxMixtures = 40;
constexpr std::chrono::seconds maxMixingTime{10};
/// Further inputs of the mixture that was found.
constexpr std::size_t furtherRuns = 6;
/// Enough for several blocks, few enough for many runs.
constexpr double maxMixedThreads = 1 << 12;

} // namespace

CheckResult Review::controlOfTrials() const {
    return checkControl(controlOutputs_, controlTolerance_, readsRandomInput_, probeOutputs_);
}

CheckResult Review::controlOf(const std::vector<std::vector<BufferContents>>& outputs) const {
    Tolerance tolerance = controlTolerance_;
    tolerance.usualScales.clear(); // Those of results that show nothing.
    return checkControl(outputs, tolerance, readsRandomInput_);
}

void Review::keepTelling(const Trial& probe, const RunPair& pair) {
    constexpr std::size_t maxKept = 3;
    if (probe.maxBlocks || probe.onlyFiniteness || probe.hasEqualPointers)
        return;
    const double threads = threadsOf(probe.original);
    if (threads <= maxMixedThreads && (!toMix_ || threads > threadsOf(toMix_->original)))
        toMix_ = probe;
    if (telling_.size() < maxKept && controlOf({pair.original.outputs}))
        telling_.push_back(probe);
}

bool Review::isOfBuiltInstance(const Trial& trial) const {
    return runsSameInstances(trial, plan_.trials.back());
}

bool Review::showsLittle() const {
    if (!tellingControl_ && !controlOfTrials())
        return true;
    return evidence_ && !std::ranges::all_of(evidence_->checks(), &CheckResult::has_value);
}

bool Review::findTellingRun() {
    if (!hasRandomInput_ || isProvedExactly() || !images_.original || !images_.candidate ||
        !showsLittle())
        return true;
    report("looking for inputs on which the results show more", 0.9);
    for (const Trial& probe : std::exchange(telling_, {})) {
        if (tellingControl_)
            break;
        if (isOfBuiltInstance(probe) && !runTelling(probe))
            return false;
    }
    return !showsLittle() || mixValues();
}

bool Review::mixValues() {
    Trial mixed = toMix_ && isOfBuiltInstance(*toMix_) ? *toMix_ : plan_.trials.back();
    const LaunchSpec base = mixed.original;
    const ValueDictionary dictionary = valueDictionary({original_.file(), original_.kernel},
                                                       {*candidate_.model, *candidateKernel_});
    mixed.label = labelOf(base) + ", values mixed to show something";
    mixed.isProbe = true;
    const auto end = std::chrono::steady_clock::now() + maxMixingTime;
    for (std::size_t turn = 0; turn < maxMixtures && showsLittle(); ++turn) {
        if (std::chrono::steady_clock::now() > end)
            return true;
        const bool hadControl = tellingControl_.has_value();
        mixed.original = withMixedValues(base, dictionary, seeds_());
        mixed.candidate = withArgumentsOf(std::move(mixed.candidate), mixed.original);
        if (!runTelling(mixed))
            return false;
        if (!hadControl && tellingControl_ && !runProbes(std::vector<Trial>(furtherRuns, mixed)))
            return false;
    }
    return true;
}

bool Review::runTelling(const Trial& trial) {
    const std::size_t number = plan_.trials.size();
    const std::vector<Comparand> both{{&trial, number, 1, seeds_()}, {&trial, number, 2, seeds_()}};
    std::vector<Runs> results = runner().runAll(both);
    std::vector<std::vector<BufferContents>> outputs;
    for (const Runs& runs : results)
        if (runs.original && isClean(runs.original->profile))
            outputs.push_back(runs.original->outputs);
    const CheckResult control =
        outputs.size() == both.size() ? controlOf(outputs) : std::unexpected(FailedCheck{});
    for (std::size_t i = 0; i < both.size(); ++i)
        if (stop_.stop_requested() || !judgeProbe(both[i], std::move(results[i])))
            return false;
    if (control && !tellingControl_)
        tellingControl_ = held(control->name, fmt::format("{}: {}", trial.label, control->detail));
    return true;
}

} // namespace kernelskill::engine
