#include "engine/review/reviewer.h"

#include "engine/inputs/probe.h"
#include "engine/inputs/trial.h"
#include "engine/review/control.h"
#include "engine/review/edit_evidence.h"
#include "engine/review/edited_program.h"
#include "engine/review/gpu_measurement.h"
#include "engine/review/guessed_launch.h"
#include "engine/review/host/host_order.h"
#include "engine/review/narrowed_values.h"
#include "engine/review/output_judgement.h"
#include "engine/review/proof_step.h"
#include "engine/review/replay_check.h"
#include "engine/review/review_images.h"
#include "engine/review/schedule_check.h"
#include "engine/review/success_summary.h"
#include "engine/review/synchronisation_change.h"
#include "engine/review/trial_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

namespace kernelskill::engine {
namespace {

std::uint64_t freshSeed() {
    std::random_device entropy;
    return (std::uint64_t{entropy()} << 32) | entropy();
}

/// Whether nothing in the run depends on what lies beyond the kernel's data, or on no order. Races
/// are compared with the candidate's.
bool isClean(const Profile& profile) {
    return std::ranges::none_of(profile.hazards, [](const Hazard& hazard) {
        return hazard.kind != HazardKind::Race || hazard.certain;
    });
}

/// Kernels count elements in int. Beyond this number the original may have wrapped around.
constexpr std::uint64_t maxDistantElements = 21ull << 26;

/// Whether the runs of some blocks of both kernels can be compared: the candidate wrote to the same
/// places, or left some out. Where it wrote to others, its blocks have other work at this size.
bool isComparable(const RunPair& pair) {
    const auto isTooFar = [](const BufferExtent& extent) {
        return extent.elements > maxDistantElements;
    };
    if (std::ranges::any_of(pair.original.profile.extents, isTooFar))
        return false;
    return std::ranges::all_of(pair.candidate.outputs, [&](const BufferContents& part) {
        return std::ranges::find(pair.original.outputs, part.name, &BufferContents::name) !=
               pair.original.outputs.end();
    });
}

/// Whether the candidate left out places, which blocks of its that did not run may write to.
bool leavesPlacesToOthers(const ReviewFailure& seen) {
    return seen.difference && seen.difference->unwritten > 0;
}

/// A proof covers what probes look for; some run all the same, in case the prover errs.
constexpr std::size_t probesOfProved = 6;
/// Where sums cancel, the rounding of another order may exceed the tolerance now and then.
constexpr std::size_t nearMissesAllowed = 2;
constexpr double maxNearMiss = 1e-3;

bool isNearMiss(const ReviewFailure& seen, const Closeness& closeness) {
    return closeness.numerics != skills::Numerics::Exact && seen.difference &&
           seen.difference->maxError && *seen.difference->maxError < maxNearMiss;
}

/// The candidate did not run to its end, although the original did.
CheckResult doesNotRun(const Trial& trial, const TrialPlace& place, const Runs& runs) {
    const Error error = runs.candidate ? runs.candidate->error()
                                       : Error{ErrorKind::Failed, "it was not started", "", ""};
    return invalid("runs, " + trial.label, error.describe(),
                   {.stage = ReviewStage::Run, .trial = place, .error = error});
}

/// One review, step by step. Each step appends its checks; a failed one ends the review.
class Review {
public:
    Review(Executor& executor, const analysis::Toolchain& toolchain, KernelRef original,
           skills::Numerics numerics, const GpuSource& gpu, const ReviewOptions& options,
           std::stop_token stop, const ProgressSink& progress)
        : executor_(executor), toolchain_(toolchain), original_(original),
          closeness_(closenessFor(original.kernel, numerics)), probeCloseness_(closeness_),
          gpu_(gpu), measures_(options.measure), probesLargeLaunches_(options.probeLargeLaunches),
          seeds_(options.seed.value_or(freshSeed())), stop_(std::move(stop)), progress_(progress) {}

    Result<Verdict> run(const analysis::EditSet& edits) {
        if (!parseCandidate(edits) || !keepsHostOrder() || !planRuns() || !keepsWidths() ||
            !build() || !runTrials() || !trySchedules() || !control() || !showsEdit())
            return finished();
        verdict_.status = VerdictStatus::Unmeasured;
        verdict_.summary = withProof(
            verdict_,
            summaryOfSuccess(verdict_, {runsDone_, plan_.trials.size(), probesDone_}, plan_.notes));
        measure();
        return finished();
    }

private:
    Result<Verdict> finished() {
        if (stop_.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "the review was cancelled", "", ""});
        if (trouble_)
            return std::unexpected(*trouble_);
        return std::move(verdict_);
    }

    void report(std::string_view what, double fraction) const {
        if (progress_)
            progress_(what, fraction);
    }

    /// Adds a check. Returns whether the review continues.
    bool take(CheckResult result) {
        if (result) {
            verdict_.checks.push_back(std::move(*result));
            return true;
        }
        FailedCheck& failed = result.error();
        verdict_.status = failed.status;
        verdict_.isAboutEdit = failed.isAboutEdit;
        verdict_.summary = fmt::format("{}: check \"{}\" failed: {}", spelling(failed.status),
                                       failed.name, failed.detail);
        verdict_.checks.push_back({std::move(failed.name), false, std::move(failed.detail)});
        if (failed.isAboutEdit)
            verdict_.failure = std::make_shared<const ReviewFailure>(std::move(failed.seen));
        return false;
    }

    [[nodiscard]] CheckResult doesNotCompile(std::string name) const {
        const Error& error = images_.candidate.error();
        return invalid(std::move(name), error.describe(),
                       {.stage = ReviewStage::Compile, .error = error});
    }

    bool parseCandidate(const analysis::EditSet& edits);
    bool keepsHostOrder();
    bool planRuns();
    /// Runs do not reach the sizes at which narrow positions wrap around, so this check does.
    bool keepsWidths();
    bool build();
    bool runTrials();
    bool runBatch(const std::vector<Comparand>& batch);
    bool judge(const Comparand& comparand, Runs runs);
    bool runProbes();
    bool runProbes(const std::vector<Trial>& probes);
    bool judgeProbe(const Comparand& comparand, Runs runs);
    /// Whether the same blocks of both kernels write to the same places.
    [[nodiscard]] bool doSameWork(const Trial& someBlocks);
    bool trySchedules();
    /// Whether the runs show what the edit does.
    bool showsEdit() {
        if (evidence_)
            for (CheckResult& check : evidence_->checks())
                if (!take(std::move(check)))
                    return false;
        return true;
    }
    bool control();
    void measure();

    [[nodiscard]] bool isProved() const { return verdict_.confidence == Confidence::Proved; }
    [[nodiscard]] KernelRef candidate() const { return {candidate_, *candidateKernel_}; }
    /// Both as they are built for runs.
    [[nodiscard]] KernelPair runnable() const {
        return evidence_ ? KernelPair{evidence_->original(), evidence_->candidate()}
                         : KernelPair{original_, candidate()};
    }

    Executor& executor_;
    const analysis::Toolchain& toolchain_;
    KernelRef original_;
    Closeness closeness_;
    Closeness probeCloseness_; ///< The same, with the scales of the first trial.
    const GpuSource& gpu_;
    bool measures_;
    bool probesLargeLaunches_;
    std::mt19937_64 seeds_; ///< Gives one seed for each input.
    std::stop_token stop_;
    const ProgressSink& progress_;

    ProgramSource candidate_;
    const analysis::KernelModel* candidateKernel_ = nullptr;
    std::vector<LessSynchronisation> removed_;
    TrialPlan plan_;
    ReviewImages images_;
    std::optional<EditEvidence> evidence_; ///< Only if the edit is not proved.
    std::size_t runsDone_ = 0;
    std::size_t runsPlanned_ = 1;
    std::size_t probesDone_ = 0;
    std::size_t nearMisses_ = 0;

    /// The outputs of the first trial, which the control uses.
    std::vector<std::vector<BufferContents>> controlOutputs_;
    Tolerance controlTolerance_;
    bool hasRandomInput_ = false;
    bool readsRandomInput_ = false;
    /// Whether the edit changes the order of the host's requests to the GPU.
    bool changesOrder_ = false;
    Verdict verdict_;
    std::optional<Error> trouble_;
};

bool Review::parseCandidate(const analysis::EditSet& edits) {
    report("parsing the edited file", 0);
    if (edits.empty())
        return take(invalid("changes something", "the edit is empty", {}));
    auto candidate = withEdits(original_.program, edits);
    if (!candidate)
        return take(invalid("applies", candidate.error().describe(), {}));
    candidate_ = std::move(*candidate);
    removed_ = lessSynchronisation(original_.program.text, candidate_.text);
    auto model = analysis::analyzeFile(candidate_.file, candidate_.text, candidate_.command,
                                       toolchain_, candidate_.unsaved);
    if (!model) {
        trouble_ = model.error();
        return false;
    }
    candidate_.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    if (auto message = firstNewError(original_.file(), *candidate_.model))
        return take(invalid("parses", *message, {.stage = ReviewStage::Parse}));
    candidateKernel_ = analysis::kernelNamed(*candidate_.model, original_.kernel.qualifiedName);
    if (candidateKernel_ == nullptr)
        return take(invalid("parses", "the edit leaves no kernel " + original_.kernel.qualifiedName,
                            {.stage = ReviewStage::Parse}));
    return take(held("parses"));
}

/// The trials run one kernel alone and do not show when the host launches it, so this check does.
bool Review::keepsHostOrder() {
    changesOrder_ = changesHostOrder(original_.file(), *candidate_.model);
    if (!changesOrder_)
        return true;
    CheckResult order = checkHostOrder(original_.file(), *candidate_.model);
    // Another kernel may need other work around it; the effect on the program is unknown.
    if (!order && original_.kernel.normalisedHash != candidateKernel_->normalisedHash)
        order.error().status = VerdictStatus::Invalid;
    return take(std::move(order));
}

bool Review::planRuns() {
    auto plan =
        planTrials({original_.file(), original_.kernel}, {*candidate_.model, *candidateKernel_},
                   *capturesOf(original_.program.captures));
    if (!plan)
        return take(unusable("can be launched", plan.error().describe()));
    plan_ = std::move(*plan);
    takeProof(original_, candidate(), closeness_.numerics, plan_, verdict_);
    runsPlanned_ = 0;
    for (const Trial& trial : plan_.trials)
        runsPlanned_ += static_cast<std::size_t>(trial.seeds);
    return true;
}

bool Review::keepsWidths() {
    if (isProved())
        return true;
    const auto narrowed =
        narrowedValues(original_.file(), original_.kernel, *candidate_.model, *candidateKernel_);
    if (narrowed.empty())
        return true;
    const NarrowedValue& first = narrowed.front();
    return take(incorrect("positions keep their bits",
                          fmt::format("line {} keeps {} bits of '{}', and nothing in the kernel "
                                      "shows that so few are enough",
                                      first.line, first.bits, first.text),
                          {.stage = ReviewStage::Width}));
}

bool Review::build() {
    report("compiling the original and the edit", 0.1);
    if (!isProved())
        evidence_.emplace(original_, candidate());
    images_ = buildImages(executor_, toolchain_, runnable(), plan_.trials.front(),
                          closeness_.numerics, stop_);
    if (stop_.stop_requested())
        return false;
    if (!images_.original)
        return take(unusable("the original compiles", images_.original.error().describe()));
    if (!images_.candidate)
        return take(doesNotCompile("compiles"));
    return take(held("compiles"));
}

bool Review::runTrials() {
    const std::size_t runsAtOnce = TrialRunner::runsAtOnce();
    std::vector<Comparand> batch;
    auto runTheBatch = [&] { return batch.empty() || runBatch(std::exchange(batch, {})); };
    for (std::size_t number = 0; number < plan_.trials.size(); ++number) {
        const Trial& trial = plan_.trials[number];
        bool isOtherInstance =
            trial.original.templateArguments != plan_.trials.front().original.templateArguments;
        if (isOtherInstance) {
            // Their images replace those of the first instance.
            if (!runTheBatch() || !runProbes())
                return false;
            images_ = buildOtherInstance(executor_, runnable(), trial, stop_);
            if (!images_.original) {
                plan_.notes.push_back(trial.label +
                                      " was left out: " + images_.original.error().what);
                continue;
            }
            if (!images_.candidate)
                return take(doesNotCompile("compiles, " + trial.label));
        }
        for (int seed = 1; seed <= trial.seeds; ++seed) {
            batch.push_back({&trial, number, seed, seeds_()});
            if (batch.size() == runsAtOnce && !runTheBatch())
                return false;
        }
    }
    if (!runTheBatch() || !runProbes())
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
    const TrialRunner runner(executor_, original_.kernel, images_, closeness_.numerics, stop_);
    std::vector<Runs> results = runner.runAll(batch);
    for (std::size_t index = 0; index < batch.size(); ++index)
        if (stop_.stop_requested() || !judge(batch[index], std::move(results[index])))
            return false;
    return true;
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
    RunPair pair{std::move(*runs.original), std::move(**runs.candidate), std::move(runs.truth)};
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
    controlTolerance_ = outputs.tolerance;
    if (comparand.trialNumber == 0 && probeCloseness_.usualScales.empty())
        probeCloseness_.usualScales = scalesOf(pair.original.outputs);
    if (!outputs.check)
        outputs.check.error().seen.agreedBefore = static_cast<int>(runsDone_);
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

/// Runs the probes of the first instance, once.
bool Review::runProbes() {
    if (probesDone_ > 0 || runsDone_ == 0)
        return true;
    report("looking for a difference at other sizes and values", 0.6);
    ProbePlan plan =
        planProbes({original_.file(), original_.kernel}, {*candidate_.model, *candidateKernel_},
                   plan_, closeness_.numerics, seeds_());
    if (!probesLargeLaunches_)
        plan.sameBlocks.reset();
    if (isProved()) {
        std::shuffle(plan.probes.begin(), plan.probes.end(), seeds_);
        plan.probes.resize(std::min(plan.probes.size(), probesOfProved));
        plan.sameBlocks.reset();
    }
    if (!runProbes(plan.probes))
        return false;
    std::size_t planned = plan.probes.size();
    if (plan.sameBlocks && doSameWork(*plan.sameBlocks)) {
        planned += plan.distant.size();
        plan.varied.emplace_back("blocks at the end of launches with up to 2^30 threads");
        if (!runProbes(plan.distant))
            return false;
    } else if (plan.sameBlocks) {
        plan.unvaried.emplace_back("blocks of larger launches: the edit gives them other work");
    }
    if (probesDone_ > 0)
        verdict_.checks.push_back(held(fmt::format("matches original, {} probes", probesDone_),
                                       describe(plan, planned - probesDone_)));
    return !stop_.stop_requested();
}

bool Review::runProbes(const std::vector<Trial>& probes) {
    const TrialRunner runner(executor_, original_.kernel, images_, closeness_.numerics, stop_);
    const std::size_t atOnce = TrialRunner::runsAtOnce();
    for (std::size_t begin = 0; begin < probes.size(); begin += atOnce) {
        std::vector<Comparand> batch;
        for (std::size_t i = begin; i < std::min(begin + atOnce, probes.size()); ++i)
            batch.push_back({&probes[i], plan_.trials.size() + i, 1, seeds_()});
        std::vector<Runs> results = runner.runAll(batch);
        for (std::size_t i = 0; i < batch.size(); ++i)
            if (stop_.stop_requested() || !judgeProbe(batch[i], std::move(results[i])))
                return false;
    }
    return true;
}

bool Review::doSameWork(const Trial& someBlocks) {
    const TrialRunner runner(executor_, original_.kernel, images_, closeness_.numerics, stop_);
    const Runs runs = runner.run({&someBlocks, plan_.trials.size(), 1, seeds_()});
    if (!runs.original || !runs.candidate || !*runs.candidate)
        return false;
    const auto nameOf = [](const BufferContents& part) { return part.name; };
    return !runs.original->outputs.empty() &&
           std::ranges::equal(runs.original->outputs, (*runs.candidate)->outputs, {}, nameOf,
                              nameOf);
}

bool Review::judgeProbe(const Comparand& comparand, Runs runs) {
    if (!runs.original || !isClean(runs.original->profile))
        return true;
    const Trial& trial = *comparand.trial;
    if (trial.hasEqualPointers && !runs.original->profile.hazards.empty())
        return true;
    const TrialPlace place{trial.label, false, 1, comparand.seed, false, trial.candidate};
    const LaunchSpec launched = withExtents(trial.original, runs.original->profile.extents);
    if (!runs.candidate || !*runs.candidate)
        return take(withoutBlameForGuess(doesNotRun(trial, place, runs), launched));
    const RunPair pair{std::move(*runs.original), std::move(**runs.candidate),
                       std::move(runs.truth)};
    if (trial.maxBlocks && !isComparable(pair))
        return true;
    CheckResult hazards = judgeHazards("no new hazard, " + trial.label, place, pair, removed_);
    if (!hazards)
        return take(withoutBlameForGuess(std::move(hazards), launched));
    Closeness closeness = probeCloseness_;
    closeness.onlyFiniteness = trial.onlyFiniteness;
    CheckResult outputs =
        judgeOutputs("matches original, " + trial.label, place, pair, closeness).check;
    if (!outputs && !outputs.error().isAboutEdit)
        return true;
    if (!outputs && trial.maxBlocks && leavesPlacesToOthers(outputs.error().seen))
        return true;
    if (!outputs && isNearMiss(outputs.error().seen, closeness_) &&
        ++nearMisses_ <= nearMissesAllowed)
        return true;
    if (!outputs) {
        outputs.error().seen.agreedBefore = static_cast<int>(runsDone_ + probesDone_);
        return take(withoutBlameForGuess(std::move(outputs), launched));
    }
    if (evidence_)
        evidence_->add(pair);
    ++probesDone_;
    return true;
}

bool Review::trySchedules() {
    report("running in other orders of threads", 0.95);
    // Images are those of the last instance that was built.
    const auto number = trialForSchedules(plan_, plan_.trials.back().original.templateArguments);
    if (isProved() || !number || !images_.original || !images_.candidate)
        return true;
    const Trial& trial = plan_.trials[*number];
    const TrialRunner runner(executor_, original_.kernel, images_, closeness_.numerics, stop_);
    CheckResult result = checkSchedules(
        runner, {&trial, *number, trial.seeds + 1, seeds_()}, closeness_, removed_,
        usesMoreThanBarriers(original_.program.text) || usesMoreThanBarriers(candidate_.text),
        evidence_ ? &*evidence_ : nullptr);
    if (stop_.stop_requested())
        return false;
    return take(withoutBlameForGuess(std::move(result), trial.original));
}

bool Review::control() {
    report("checking that a wrong result would be noticed", 0.97);
    if (!hasRandomInput_)
        return take(controlWithoutInput());
    return take(checkControl(controlOutputs_, controlTolerance_, readsRandomInput_));
}

void Review::measure() {
    if (!measures_) {
        verdict_.summary += " Not measured, as requested.";
        return;
    }
    if (changesOrder_) {
        verdict_.summary += " Not measured: the edit is about the program around the kernel.";
        return;
    }
    const auto found =
        gpu_ ? gpu_(stop_, progress_) : std::unexpected(Error{ErrorKind::Missing, {}, {}, {}});
    if (!found) {
        verdict_.summary += found.error().kind == ErrorKind::Missing
                                ? " No GPU: its time is not known."
                                : " Not measured: " + found.error().describe();
        return;
    }
    GpuExecutor* gpu = *found;
    report("measuring on the " + gpu->device().name, 0.98);
    auto measured =
        measureOnGpu(*gpu, executor_, original_, candidate(), closeness_.numerics, seeds_(), stop_);
    if (!measured) {
        verdict_.summary += " Not measured: " + measured.error().describe();
        return;
    }
    if (!take(std::move(measured->agreement)))
        return;
    verdict_.status = measured->timing->status;
    verdict_.speedup = measured->timing->speedup;
    verdict_.summary += " Measured " + measured->timing->sentence + ".";
}

} // namespace

Reviewer::Reviewer(Executor* executor, const analysis::Toolchain& toolchain, GpuSource gpu)
    : executor_(executor), toolchain_(toolchain), gpu_(std::move(gpu)) {}

Result<Verdict> Reviewer::review(KernelRef original, const analysis::EditSet& edits,
                                 skills::Numerics numerics, std::stop_token stop,
                                 const ProgressSink& progress, const ReviewOptions& options) const {
    if (executor_ == nullptr) {
        Verdict verdict;
        verdict.isAboutEdit = false;
        verdict.summary =
            "invalid: there is no host compiler to run kernels with, so nothing was checked";
        verdict.checks.push_back({"can be run", false, "no executor"});
        return verdict;
    }
    Review review(*executor_, toolchain_, original, numerics, gpu_, options, std::move(stop),
                  progress);
    return review.run(edits);
}

} // namespace kernelskill::engine
