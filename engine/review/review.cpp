#include "engine/review/review.h"

#include "engine/proof/race_freedom.h"
#include "engine/review/control.h"
#include "engine/review/edited_program.h"
#include "engine/review/guessed_launch.h"
#include "engine/review/hardware_rules.h"
#include "engine/review/host/host_arguments.h"
#include "engine/review/host/host_order.h"
#include "engine/review/narrowed_products.h"
#include "engine/review/narrowed_values.h"
#include "engine/review/proof_step.h"
#include "engine/review/rounded_numbers.h"
#include "engine/review/runner_place.h"
#include "engine/review/schedule_check.h"
#include "engine/review/smaller_arrays.h"
#include "engine/review/success_summary.h"
#include "engine/review/walked_arrays.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace kernelskill::engine {
namespace {

std::uint64_t freshSeed() {
    std::random_device entropy;
    return (std::uint64_t{entropy()} << 32) | entropy();
}

} // namespace

Review::Review(Executor& executor, const analysis::Toolchain& toolchain, KernelRef original,
               const skills::Accuracy& accuracy, const GpuSource& gpu, const ReviewOptions& options,
               std::stop_token stop, const ProgressSink& progress)
    : executor_(executor), toolchain_(toolchain), original_(original), accuracy_(accuracy),
      closeness_(closenessFor(original.kernel, accuracy)), probeCloseness_(closeness_), gpu_(gpu),
      place_(options.measure ? options.place : nullptr), reviewsOthers_(options.otherKernels),
      reviewsHost_(options.hostCode), measures_(options.measure),
      probesLargeLaunches_(options.probeLargeLaunches), isSumOfReviewed_(options.isSumOfReviewed),
      seeds_(options.seed.value_or(freshSeed())), stop_(std::move(stop)), progress_(progress) {}

Result<Verdict> Review::run(const analysis::EditSet& edits) {
    edits_ = edits;
    if (!parseCandidate(edits) || !keepsHostCode())
        return finished();
    prepareMeasurement();
    if ((!replaced_.fused.empty() || !replaced_.split.empty()) && reviewsOthers_) {
        if (keepsFusedKernels() && keepsSplitKernels() && keepsOtherKernels()) {
            verdict_.status = VerdictStatus::Unmeasured;
            measure();
        }
        return finished();
    }
    if (!checkByRuns() && !leavesRunsToPlace())
        return finished();
    if (!keepsOtherKernels())
        return finished();
    verdict_.status = VerdictStatus::Unmeasured;
    if (isOnlyInPlace_) {
        verdict_.summary = withProof(verdict_, "The emulator did not run it.");
    } else if (smaller_.empty()) {
        verdict_.summary = withProof(
            verdict_,
            summaryOfSuccess(verdict_, {runsDone_, plan_.trials.size(), probesDone_}, plan_.notes));
        verdict_.summary += errors_.sentence();
    } else {
        verdict_.summary = summaryOfSmaller(smaller_, smallerSummary_, runsDone_, plan_.notes);
    }
    measure();
    return finished();
}

bool Review::checkByRuns() {
    if (!planRuns() || !keepsHardwareRules() || !keepsWidths() || !keepsOwnArrays())
        return false;
    proveNoRaces();
    return build() && fitSize() && runOwnSize();
}

bool Review::leavesRunsToPlace() {
    if (place_ == nullptr || !place_->hasOwnLaunch() || isSmallerProgram_ || changesOrder_ ||
        verdict_.isAboutEdit || trouble_ || stop_.stop_requested())
        return false;
    Check& missing = verdict_.checks.back();
    missing = {"runs on the emulator", true,
               fmt::format("not done: {}: {}", missing.name, missing.detail)};
    verdict_.isAboutEdit = true;
    isOnlyInPlace_ = true;
    if (plan_.trials.empty())
        takeProof(original_, candidate(), closeness_.accuracy.numerics, plan_, verdict_, stop_);
    if (!isProved())
        verdict_.confidence = Confidence::Weak;
    return keepsHardwareRules() && keepsWidths() && keepsOwnArrays();
}

bool Review::runOwnSize() {
    if (!smaller_.empty())
        return plan_.trials.empty() || (runTrials() && keepsErrors() && control());
    return runTrials() && findTellingRun() && keepsErrors() && trySchedules() && control() &&
           showsEdit();
}

Result<Verdict> Review::finished() {
    if (stop_.stop_requested())
        return std::unexpected(Error{ErrorKind::Cancelled, "the review was cancelled", "", ""});
    if (trouble_)
        return std::unexpected(*trouble_);
    return std::move(verdict_);
}

bool Review::take(CheckResult result) {
    if (result) {
        verdict_.checks.push_back(std::move(*result));
        return true;
    }
    refuse(verdict_, std::move(result.error()));
    return false;
}

CheckResult Review::doesNotCompile(std::string name) const {
    const Error& error = images_.candidate.error();
    return invalid(std::move(name), error.describe(),
                   {.stage = ReviewStage::Compile, .error = error});
}

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

/// The trials run one kernel alone and do not show when the host launches it, and on which data, so
/// this check does.
bool Review::keepsHostCode() {
    if (!reviewsHost_)
        return true;
    if (changesHostCode(original_.file(), *candidate_.model) &&
        !take(checkHostArguments(original_.file(), *candidate_.model, stop_)))
        return false;
    changesOrder_ = changesHostOrder(original_.file(), *candidate_.model);
    if (!changesOrder_)
        return true;
    replaced_.fused = fusedKernels(original_.file(), *candidate_.model);
    if (replaced_.fused.empty())
        replaced_.split = splitKernels(original_.file(), *candidate_.model);
    CheckResult order = checkHostOrder(original_.file(), *candidate_.model, replaced_, stop_);
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
    closeness_.bringsRoundedNumbers = probeCloseness_.bringsRoundedNumbers =
        bringsRoundedNumbers(original_.program.text, candidate_.text, plan_.trials.front().original,
                             plan_.trials.front().candidate);
    takeProof(original_, candidate(), closeness_.accuracy.numerics, plan_, verdict_, stop_);
    usePlan(std::move(plan_));
    return !stop_.stop_requested();
}

void Review::proveNoRaces() {
    const Trial& first = plan_.trials.front();
    const auto free = proveNoRace(candidate(), first.candidate, stop_);
    if (!free)
        return;
    const auto originalFree = proveNoRace(original_, first.original, stop_);
    isRaceFree_ =
        free->needsOnlyDistinctArrays && originalFree && originalFree->needsOnlyDistinctArrays;
    verdict_.checks.push_back(held("no two threads race", free->sentence()));
}

bool Review::keepsHardwareRules() {
    auto broken = brokenHardwareRule(original_, candidate(), plan_);
    return !broken || take(std::unexpected(*std::move(broken)));
}

bool Review::keepsWidths() {
    if (isProved())
        return true;
    auto narrowed =
        narrowedValues(original_.file(), original_.kernel, *candidate_.model, *candidateKernel_);
    std::ranges::copy(
        narrowedProducts(original_.file(), original_.kernel, *candidate_.model, *candidateKernel_),
        std::back_inserter(narrowed));
    if (narrowed.empty())
        return true;
    const NarrowedValue& first = narrowed.front();
    return take(incorrect("positions keep their bits",
                          fmt::format("line {} keeps {} bits of '{}', and nothing in the kernel "
                                      "shows that so few are enough",
                                      first.line, first.bits, first.text),
                          {.stage = ReviewStage::Width}));
}

bool Review::keepsOwnArrays() {
    if (isProved())
        return true;
    const auto smaller =
        smallerArrays(original_.file(), original_.kernel, *candidate_.model, *candidateKernel_);
    if (!smaller.empty()) {
        const SmallerArray& first = smaller.front();
        return take(incorrect(
            "own arrays keep their room",
            fmt::format("line {} leaves '{}', an array of a thread's own, {} of {} elements, and "
                        "nothing in the kernel shows that so few are enough",
                        first.line, first.name, first.after, first.before),
            {.stage = ReviewStage::Reach}));
    }
    const auto walked = walkedArrays(*candidate_.model, *candidateKernel_);
    if (walked.size() <= walkedArrays(original_.file(), original_.kernel).size())
        return true;
    return take(
        invalid("accesses to own arrays are followed",
                fmt::format("on line {}, '{}' steps through '{}', an array of a thread's "
                            "own, and no run shows whether it stays in it; index the array",
                            walked.front().line, walked.front().pointer, walked.front().array),
                {.stage = ReviewStage::Reach}));
}

bool Review::build() {
    report("compiling the original and the edit", 0.1);
    if (!isProved()) {
        evidence_.emplace(original_, candidate());
        if (isSumOfReviewed_)
            evidence_->trustSteps();
    }
    images_ = buildImages(executor_, toolchain_, runnable(), plan_.trials.front(),
                          closeness_.accuracy.numerics, stop_);
    if (stop_.stop_requested())
        return false;
    if (images_.lostConditions && evidence_)
        evidence_->loseOutcomes();
    if (!images_.original)
        return take(unusable("the original compiles", images_.original.error().describe()));
    if (!images_.candidate)
        return take(doesNotCompile("compiles"));
    return take(held("compiles"));
}

bool Review::keepsErrors() {
    return !errors_.hasAny() || take(errors_.judge(closeness_));
}

bool Review::trySchedules() {
    const bool meetsOtherwise =
        usesMoreThanBarriers(original_.program.text) || usesMoreThanBarriers(candidate_.text);
    if (isRaceFree_ && !meetsOtherwise)
        return true; // Then the results are the same in any order.
    report("running in other orders of threads", 0.95);
    // Images are those of the last instance that was built.
    const auto number = trialForSchedules(plan_, plan_.trials.back());
    if (isProved() || !number || !images_.original || !images_.candidate)
        return true;
    const Trial& trial = plan_.trials[*number];
    if (!meetsOtherwise && isRaceFreeAt(trial))
        return !stop_.stop_requested();
    const TrialRunner runner = this->runner();
    CheckResult result =
        checkSchedules(runner, {&trial, *number, trial.seeds + 1, seeds_()}, closeness_, removed_,
                       meetsOtherwise, evidence_ ? &*evidence_ : nullptr);
    if (stop_.stop_requested())
        return false;
    return take(withoutBlameForGuess(std::move(result), trial.original));
}

bool Review::isRaceFreeAt(const Trial& trial) {
    const auto isFree = [&](KernelRef kernel, const LaunchSpec& launch) {
        const auto free = proveNoRace(kernel, launch, stop_, ProvedLaunches::ThisLaunch);
        return free && free->needsOnlyDistinctArrays;
    };
    if (!isFree(candidate(), trial.candidate) || !isFree(original_, trial.original))
        return false;
    verdict_.checks.push_back(held("no two threads race, " + trial.label,
                                   "shown for all inputs of this launch: the results are the same "
                                   "in any order of threads"));
    return true;
}

bool Review::showsEdit() {
    if (evidence_)
        for (CheckResult& check : evidence_->checks())
            if (!take(std::move(check)))
                return false;
    return true;
}

bool Review::control() {
    report("checking that a wrong result would be noticed", 0.97);
    if (!hasRandomInput_)
        return take(controlWithoutInput());
    CheckResult result = controlOfTrials();
    if (!result && tellingControl_)
        return take(*std::move(tellingControl_));
    if (!result && isProvedExactly())
        return take(held(result.error().name,
                         "not needed: the edit is proved, and no inputs were found that would show "
                         "a wrong result"));
    return take(std::move(result));
}

void Review::prepareMeasurement() {
    if (place_ == nullptr || changesOrder_)
        return;
    preparing_ =
        std::jthread([this](const std::stop_token& over) { place_->prepare(candidate(), over); });
}

void Review::measure() {
    if (isSmallerProgram_)
        return;
    if (!measures_) {
        verdict_.summary += reviewsOthers_ ? " Not measured, as requested." : "";
        return;
    }
    if (changesOrder_) {
        verdict_.summary += " Not measured: the edit is about the program around the kernel.";
        return;
    }
    const auto measuredIn = [&](MeasuringPlace& place) {
        return place.measure(
            {original_, candidate(), closeness_.accuracy, seeds_(), !isOnlyInPlace_}, stop_);
    };
    if (place_ != nullptr) {
        report("measuring in the program", 0.98);
        if (preparing_.joinable() && !stop_.stop_requested())
            preparing_.join();
        auto measured = measuredIn(*place_);
        if (measured || measured.error().kind != ErrorKind::Unsupported || isOnlyInPlace_)
            return takeMeasurement(std::move(measured));
        verdict_.summary += " Not tried in the program: " + measured.error().describe() + ".";
    }
    const auto found =
        gpu_ ? gpu_(stop_, progress_) : std::unexpected(Error{ErrorKind::Missing, {}, {}, {}});
    if (!found) {
        verdict_.summary += found.error().kind == ErrorKind::Missing
                                ? " No GPU: its time is not known."
                                : " Not measured: " + found.error().describe();
        return;
    }
    report("measuring on the " + (*found)->device().name, 0.98);
    RunnerPlace runner(**found, executor_);
    takeMeasurement(measuredIn(runner));
}

void Review::takeMeasurement(Result<GpuMeasurement> measured) {
    if (!measured && isOnlyInPlace_) {
        static_cast<void>(take(unusable("runs in the program", measured.error().describe())));
        return;
    }
    if (!measured) {
        verdict_.summary += " Not measured: " + measured.error().describe();
        return;
    }
    if (!take(std::move(measured->agreement)))
        return;
    if (measured->sanitized && !take(std::move(*measured->sanitized)))
        return;
    if (!measured->timing) {
        verdict_.summary += " Not measured: nothing was timed.";
        return;
    }
    verdict_.status = measured->timing->status;
    verdict_.speedup = measured->timing->speedup;
    verdict_.summary += " Measured " + measured->timing->sentence + ".";
}

} // namespace kernelskill::engine
