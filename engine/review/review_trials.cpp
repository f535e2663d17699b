/// The trials of a review: whole launches, judged in order.
#include "engine/inputs/probe.h"
#include "engine/review/control.h"
#include "engine/review/guessed_launch.h"
#include "engine/review/replay_check.h"
#include "engine/review/review.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

CheckResult Review::doesNotRun(const Trial& trial, const TrialPlace& place, const Runs& runs) {
    const Error error = runs.candidate ? runs.candidate->error()
                                       : Error{ErrorKind::Failed, "it was not started", "", ""};
    return invalid("runs, " + trial.label, error.describe(),
                   {.stage = ReviewStage::Run, .trial = place, .error = error});
}

bool Review::runTrials() {
    const std::size_t runsAtOnce = TrialRunner::runsAtOnce();
    std::vector<Comparand> batch;
    auto runTheBatch = [&] { return batch.empty() || runBatch(std::exchange(batch, {})); };
    const Trial* built = &plan_.trials.front(); // The images are of its instance.
    bool areProbed = false;
    auto runProbesOnce = [&] { return std::exchange(areProbed, true) || runProbes(); };
    for (std::size_t number = 0; number < plan_.trials.size(); ++number) {
        const Trial& trial = plan_.trials[number];
        const bool isOtherInstance = !runsSameInstances(trial, plan_.trials.front());
        if (!runsSameInstances(trial, *built)) {
            // Its images replace those of the last instance. Probes are of the first.
            if (!runTheBatch() || !runProbesOnce())
                return false;
            images_ = buildImages(executor_, toolchain_, runnable(), trial,
                                  closeness_.accuracy.numerics, stop_);
            built = &trial;
            if (stop_.stop_requested())
                return false;
            if (images_.lostConditions && evidence_)
                evidence_->loseOutcomes();
            if (images_.original && !images_.candidate)
                return take(doesNotCompile("compiles, " + trial.label));
        }
        if (!images_.original) {
            plan_.notes.push_back(trial.label + " was left out: " + images_.original.error().what);
            continue;
        }
        for (int seed = 1; seed <= trial.seeds; ++seed) {
            batch.push_back({&trial, number, seed, seeds_()});
            if (batch.size() == runsAtOnce && !runTheBatch())
                return false;
        }
        if (isOtherInstance && !trial.isReplay && !isProved() && smaller_.empty() &&
            (!runTheBatch() ||
             !runProbes(planInstanceProbes({original_.file(), original_.kernel},
                                           {*candidate_.model, *candidateKernel_}, trial,
                                           closeness_.accuracy.numerics, seeds_()))))
            return false;
    }
    if (!runTheBatch() || !runProbesOnce())
        return false;
    if (runsDone_ == 0)
        return take(unusable("the original runs", "no launch of the original ran"));
    return true;
}

/// Runs several comparands at once, then judges them in order.
bool Review::runBatch(const std::vector<Comparand>& batch) {
    const Comparand& first = batch.front();
    report(fmt::format("running seed {} of {}, {}", first.seedNumber, first.trial->seeds,
                       first.trial->label),
           0.2 + 0.75 * static_cast<double>(runsDone_) / static_cast<double>(runsPlanned_));
    return runner().judgeEach(batch, [this](const Comparand& comparand, Runs runs) {
        return !stop_.stop_requested() && judge(comparand, std::move(runs));
    });
}

bool Review::judge(const Comparand& comparand, Runs runs) {
    const Trial& trial = *comparand.trial;
    if (!runs.original) {
        if (comparand.trialNumber == 0)
            return take(unusable("the original runs", runs.original.error().describe()));
        // If the original fails on an odd size, the trial says nothing about the edit.
        plan_.notes.push_back(trial.label + " was left out: the original fails on it");
        return true;
    }
    const TrialPlace place{
        trial.label,    comparand.trialNumber == 0, comparand.seedNumber, comparand.seed, false,
        trial.candidate};
    const LaunchSpec launched = withExtents(trial.original, runs.original->profile.extents);
    if (!runs.candidate || !*runs.candidate)
        return take(withoutBlameForGuess(doesNotRun(trial, place, runs), launched));
    RunPair pair = RunPair::of(std::move(runs));
    if (comparand.isFirst()) {
        verdict_.before = pair.original.profile.metrics;
        verdict_.after = pair.candidate.profile.metrics;
    }
    hasRandomInput_ |= hasRandomInput(pair.original.profile.launch);
    readsRandomInput_ |= readsRandomInput(pair.original.profile);
    // A hazard may be the cause of a difference, so hazards are judged first. A message that holds
    // for every seed is written once.
    CheckResult hazards = withoutBlameForGuess(
        judgeHazards("no new hazard, " + trial.label, place, pair, removed_), launched);
    OutputJudgement outputs = judgeOutputs(
        fmt::format("matches original, seed {}, {}", comparand.seedNumber, trial.label), place,
        pair, closeness_);
    // A wrong result says more than a suspicion, which is its likely cause.
    const bool isKnownWrong = !hazards && isOnlySuspected(hazards.error()) && !outputs.check &&
                              outputs.check.error().isAboutEdit;
    bool isSaid = hazards && std::ranges::find(verdict_.checks, hazards->name, &Check::name) !=
                                 verdict_.checks.end();
    if (!isSaid && !isKnownWrong && !take(std::move(hazards)))
        return false;
    if (!outputs.check && trial.maxBlocks && addsFromAllBlocks()) {
        plan_.notes.push_back(trial.label +
                              " was left out: all blocks add to the same places, and these add "
                              "other elements than the original's");
        return true;
    }
    controlTolerance_ = outputs.tolerance;
    if (comparand.trialNumber == 0 && probeCloseness_.usualScales.empty()) {
        probeCloseness_.usualScales = scalesOf(pair.original.outputs);
        probeCloseness_.usualTerms = termsOfAResult(pair);
    }
    probeCloseness_.usualError = std::max(probeCloseness_.usualError, outputs.ownError.value_or(0));
    if (!outputs.check)
        outputs.check.error().seen.agreedBefore = static_cast<int>(runsDone_);
    if (outputs.check)
        errors_.add(comparand.trial->original, pair, closeness_, outputs);
    if (!take(withoutBlameForGuess(std::move(outputs.check), launched)))
        return false;
    if (trial.isReplay) {
        Check replay = checkReplay(trial.original, pair.original.outputs, "the emulator");
        if (!replay.detail.empty())
            verdict_.checks.push_back(std::move(replay));
    }
    if (evidence_)
        evidence_->add(pair);
    if (comparand.trialNumber == 0)
        controlOutputs_.push_back(std::move(pair.original.outputs));
    ++runsDone_;
    return true;
}

} // namespace kernelskill::engine
