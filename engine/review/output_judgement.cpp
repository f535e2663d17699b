#include "engine/review/output_judgement.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/comparison/hazard_comparison.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace kernelskill::engine {
namespace {

/// If the original differs from float64 by more than this, a branch went the other way and the
/// reference does not compute the same function. Then the reference is not used.
constexpr double meaningfulReference = 1e-2;
/// Results that are smaller than usual because terms cancel may be off by so many times the
/// tolerance at their own scale. More is a formula that cancels where the original's does not.
constexpr double cancellationAllowed = 64;
/// Turns `result` into a check.
CheckResult concluded(const std::string& name, const TrialPlace& place, const RunPair& pair,
                      const Comparison& result, const std::string& against) {
    std::string detail =
        fmt::format("{}; compared with {}; seed {:#x}", result.detail, against, place.seed);
    if (result.agrees)
        return held(name, std::move(detail));
    const auto& hazards = pair.original.profile.hazards;
    const auto race = std::ranges::find_if(hazards, [](const Hazard& hazard) {
        return hazard.kind == HazardKind::Race && hazard.details.doubt != RaceDoubt::Volatile;
    });
    if (race == hazards.end())
        return incorrect(name, std::move(detail),
                         {.stage = ReviewStage::Outputs,
                          .trial = place,
                          .hazards = newSuspicions(hazards, pair.candidate.profile.hazards),
                          .difference = result.difference});
    const Error error{ErrorKind::Unsupported,
                      fmt::format("the original has a {}, so its result depends on the order "
                                  "of its threads and proves nothing; here {}",
                                  describe(*race), detail),
                      "", ""};
    return unusable("the original always gives the same result", error.describe());
}

/// Compares the two float64 forms, in which rounding hides nothing. Ignores a large difference: a
/// branch went the other way, or a rewritten text computes something else than its kernel.
void judgeForms(CheckResult& check, const std::string& name, const TrialPlace& place,
                const RunPair& pair, const Closeness& closeness, double ownError) {
    const bool isNarrower = std::ranges::none_of(pair.original.outputs, [](const auto& output) {
        return output.element == analysis::ScalarKind::Double;
    });
    if (!pair.wideCandidate || !isNarrower || closeness.onlyFiniteness)
        return;
    Tolerance tolerance = toleranceOfForms(ownError, pair, closeness);
    tolerance.usualScales = closeness.usualScales;
    const Comparison coarse =
        compareOutputs(**pair.truth, *pair.wideCandidate, {false, meaningfulReference});
    const Comparison fine = compareOutputs(**pair.truth, *pair.wideCandidate, tolerance);
    if (!coarse.agrees)
        return;
    if (fine.agrees) {
        check->detail += fmt::format("; both in float64: {:.3g} apart", fine.maxError);
        return;
    }
    check = concluded(name, place, pair, fine,
                      fmt::format("the original, both computed in float64, where rounding explains "
                                  "{:.3g}{}",
                                  tolerance.scaledError, closeness.note));
}

} // namespace

OutputJudgement judgeOutputs(const std::string& name, const TrialPlace& place, const RunPair& pair,
                             const Closeness& closeness) {
    const auto& outputs = pair.original.outputs;
    if (outputs.empty()) {
        const Error error{ErrorKind::Unsupported, "the kernel has no output buffer to compare", "",
                          ""};
        return {unusable("writes something", error.describe()), {}};
    }
    auto conclude = [&](const std::vector<BufferContents>& expected, Tolerance tolerance,
                        const std::string& against) {
        tolerance.usualScales = closeness.usualScales;
        if (closeness.onlyFiniteness)
            tolerance.scaledError = std::numeric_limits<double>::max();
        Comparison result = compareOutputs(expected, pair.candidate.outputs, tolerance);
        return OutputJudgement{concluded(name, place, pair, result, against), tolerance};
    };
    if (closeness.accuracy.numerics == skills::Numerics::Exact)
        return conclude(outputs, {}, "the original, bit by bit");
    const auto& truth = *pair.truth;
    std::string note;
    if (truth) {
        const Comparison own = compareOutputs(*truth, outputs, {false, meaningfulReference});
        if (own.agrees) {
            OutputJudgement judged =
                conclude(*truth, toleranceBeside(own.maxError, pair, closeness),
                         fmt::format("a float64 reference from which the original is {:.3g} away{}",
                                     own.maxError, closeness.note));
            judged.ownError = own.maxError;
            if (isMeasureOfCancellation(pair, closeness)) {
                Tolerance atOwnScale = toleranceBeside(own.maxError, pair, closeness);
                atOwnScale.scaledError *= cancellationAllowed;
                const Comparison result =
                    compareOutputs(*truth, pair.candidate.outputs, atOwnScale);
                if (!result.agrees)
                    judged.check =
                        concluded(name, place, pair, result,
                                  fmt::format("a float64 reference, where results are small, from "
                                              "which the original is {:.3g} away{}",
                                              own.maxError, closeness.note));
            }
            if (judged.check)
                judgeForms(judged.check, name, place, pair, closeness, own.maxError);
            return judged;
        }
        note = "the original itself differs from it: " + own.detail;
    } else {
        note = truth.error().what;
    }
    const bool mayBeBetter = closeness.onlyFiniteness && truth;
    return conclude(mayBeBetter
                        ? withinRange(outputs, *truth, pair.candidate.outputs, meaningfulReference)
                        : outputs,
                    toleranceWithoutReference(pair, closeness),
                    fmt::format("the original, because there is no float64 reference ({}){}", note,
                                closeness.note));
}

CheckResult judgeHazards(const std::string& name, const TrialPlace& place, const RunPair& pair,
                         const std::vector<LessSynchronisation>& removed) {
    const auto& original = pair.original.profile.hazards;
    auto found = newHazards(original, pair.candidate.profile.hazards);
    if (found.empty())
        found = newlyOutOfBounds(pair.original.profile, pair.candidate.profile);
    if (found.empty())
        found = newConflicts(pair.original.profile, pair.candidate.profile, !removed.empty());
    if (found.empty())
        found = newMissedBarriers(original, pair.candidate.profile.hazards);
    if (!found.empty()) {
        const bool isSuspected =
            !found.front().certain && found.front().kind != HazardKind::OutOfBounds;
        std::string detail = isSuspected ? "suspected " : "";
        detail += describe(found.front());
        if (!removed.empty() && found.front().kind == HazardKind::Race)
            detail = fmt::format("the edit removes {}: {}", describe(removed), detail);
        return incorrect(
            name, std::move(detail),
            {.stage = ReviewStage::Hazards, .trial = place, .hazards = std::move(found)});
    }
    return held(name, original.empty()
                          ? "none in either"
                          : fmt::format("the original has {} of its own", original.size()));
}

bool isOnlySuspected(const FailedCheck& hazards) {
    return std::ranges::none_of(hazards.seen.hazards, &Hazard::certain);
}

} // namespace kernelskill::engine
