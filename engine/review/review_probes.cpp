/// The probes of a review: small runs, or a few blocks of large ones, that look for a difference.
#include "engine/execution/integer_division.h"
#include "engine/inputs/compared_variables.h"
#include "engine/inputs/probe.h"
#include "engine/review/guessed_launch.h"
#include "engine/review/review.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

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
/// In units of the tolerance.
constexpr double nearMissFactor = 8;

bool isNearMiss(const ReviewFailure& seen, const Tolerance& tolerance) {
    return !tolerance.bitExact && seen.difference && seen.difference->maxError &&
           *seen.difference->maxError <
               std::min(maxNearMiss, nearMissFactor * tolerance.scaledError);
}

} // namespace

bool Review::isClean(const Profile& profile) {
    // A run with these says something all the same: it is compared with the candidate's.
    const auto isCompared = [](const Hazard& hazard) {
        return !hazard.certain &&
               (hazard.kind == HazardKind::Race || hazard.kind == HazardKind::BarrierDivergence);
    };
    return std::ranges::all_of(profile.hazards, isCompared);
}

/// Runs the probes of the first instance, once.
bool Review::runProbes() {
    if (probesDone_ > 0 || runsDone_ == 0 || !smaller_.empty())
        return true;
    report("looking for a difference at other sizes and values", 0.6);
    ProbePlan plan =
        planProbes({original_.file(), original_.kernel}, {*candidate_.model, *candidateKernel_},
                   plan_, closeness_.accuracy.numerics, seeds_(),
                   place_ != nullptr ? place_->passed() : std::map<std::string, std::int64_t>());
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
    std::vector<Comparand> comparands;
    for (std::size_t i = 0; i < probes.size(); ++i)
        comparands.push_back({&probes[i], plan_.trials.size() + i, 1, seeds_()});
    return runner().judgeEach(comparands, [this](const Comparand& comparand, Runs runs) {
        return !stop_.stop_requested() && judgeProbe(comparand, std::move(runs));
    });
}

bool Review::doSameWork(const Trial& someBlocks) {
    const TrialRunner runner = this->runner();
    Runs runs = runner.run({&someBlocks, plan_.trials.size(), 1, seeds_()});
    if (!runs.original || !runs.candidate || !*runs.candidate)
        return false;
    const auto nameOf = [](const BufferContents& part) { return part.name; };
    if (runs.original->outputs.empty() ||
        !std::ranges::equal(runs.original->outputs, (*runs.candidate)->outputs, {}, nameOf, nameOf))
        return false;
    if (!addsFromAllBlocks())
        return true;
    const TrialPlace place{someBlocks.label, false, 1, 0, false, someBlocks.candidate};
    const RunPair pair = RunPair::of(std::move(runs));
    const CheckResult outputs = judgeOutputs(someBlocks.label, place, pair, probeCloseness_).check;
    return outputs.has_value() || leavesPlacesToOthers(outputs.error().seen);
}

bool Review::addsFromAllBlocks() const {
    return !original_.kernel.atomics.empty() && !candidateKernel_->atomics.empty();
}

bool Review::judgeProbe(const Comparand& comparand, Runs runs) {
    if (!runs.original || !isClean(runs.original->profile))
        return true;
    const Trial& trial = *comparand.trial;
    const auto isRace = [](const Hazard& hazard) {
        return hazard.kind == HazardKind::Race && hazard.details.doubt != RaceDoubt::Volatile;
    };
    if (trial.hasEqualPointers && std::ranges::any_of(runs.original->profile.hazards, isRace))
        return true;
    const TrialPlace place{trial.label, false, 1, comparand.seed, false, trial.candidate};
    const LaunchSpec launched = withExtents(trial.original, runs.original->profile.extents);
    if (!runs.candidate || !*runs.candidate) {
        if (runs.candidate && runs.candidate->error().what.contains(integerDivisionByZero) &&
            hidesDivisionByZero(comparand))
            return true;
        return take(withoutBlameForGuess(doesNotRun(trial, place, runs), launched));
    }
    const RunPair pair = RunPair::of(std::move(runs));
    if (trial.maxBlocks && !isComparable(pair))
        return true;
    CheckResult hazards = judgeHazards("no new hazard, " + trial.label, place, pair, removed_);
    if (!hazards)
        return take(withoutBlameForGuess(std::move(hazards), launched));
    // If only some blocks run, results may be parts of sums, whose scale is not known.
    Closeness closeness = trial.maxBlocks ? probeCloseness_ : closenessAt(probeCloseness_, pair);
    closeness.onlyFiniteness = trial.onlyFiniteness;
    OutputJudgement judged =
        judgeOutputs("matches original, " + trial.label, place, pair, closeness);
    CheckResult& outputs = judged.check;
    if (!outputs && !outputs.error().isAboutEdit)
        return true;
    if (!outputs && trial.maxBlocks && leavesPlacesToOthers(outputs.error().seen))
        return true;
    if (!outputs && isNearMiss(outputs.error().seen, judged.tolerance) &&
        ++nearMisses_ <= nearMissesAllowed)
        return true;
    if (!outputs) {
        outputs.error().seen.agreedBefore = static_cast<int>(runsDone_ + probesDone_);
        return take(withoutBlameForGuess(std::move(outputs), launched));
    }
    errors_.add(comparand.trial->original, pair, closeness, judged);
    if (evidence_)
        evidence_->add(pair);
    keepForControl(trial, pair);
    keepTelling(trial, pair);
    ++probesDone_;
    return true;
}

bool Review::hidesDivisionByZero(const Comparand& comparand) const {
    ProgramSource checked = original_.program;
    checked.checksDivisions = true;
    const LaunchSpec& launch = comparand.trial->original;
    const auto image = executor_.build({checked, original_.kernel}, launch, stop_);
    if (!image)
        return false;
    Job job;
    job.launch = withVariables(launch, plan_.variables);
    job.seed = comparand.seed;
    job.schedule = comparand.schedule;
    job.maxBlocks = comparand.trial->maxBlocks;
    return !executor_.run(**image, job, stop_).has_value() && !stop_.stop_requested();
}

void Review::keepForControl(const Trial& probe, const RunPair& pair) {
    constexpr std::size_t maxKept = 16;
    const auto shape = [](const BufferContents& output) {
        return std::pair(std::string_view(output.name), output.bytes.size());
    };
    if (probe.maxBlocks || probe.onlyFiniteness || probeOutputs_.size() == maxKept ||
        controlOutputs_.empty() ||
        !std::ranges::equal(controlOutputs_.front(), pair.original.outputs, {}, shape, shape))
        return;
    probeOutputs_.push_back(pair.original.outputs);
}

} // namespace kernelskill::engine
