#include "engine/review/output_judgement.h"

#include "analysis/model/scalar_kinds.h"
#include "analysis/syntax/scalar_bytes.h"
#include "engine/comparison/hazard_comparison.h"
#include "engine/review/arithmetic_precision.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The maximum error of the candidate relative to the error of the original, both against float64.
/// A reordered sum has a different error of the same magnitude.
constexpr double errorGrowthAllowed = 4;
/// An error below this many units of roundoff passes, even if the original was more exact.
constexpr double roundoffsAllowed = 16;
/// If the original differs from float64 by more than this, a branch went the other way and the
/// reference does not compute the same function. Then the reference is not used.
constexpr double meaningfulReference = 1e-2;
/// Results that are smaller than usual because terms cancel may be off by so many times the
/// tolerance at their own scale. More is a formula that cancels where the original's does not.
constexpr double cancellationAllowed = 64;
/// However much the kernel enlarges what the edit states, more is no rounding.
constexpr double largestStatedError = 5e-3;
/// The enlargement that is taken for granted where no float64 reference shows it.
constexpr double enlargedWithoutReference = 16;

/// Whether the order of threads can change the result. Then even an exact rewrite may round
/// differently.
bool hasFloatingAtomics(const analysis::KernelModel& kernel) {
    return std::ranges::any_of(kernel.atomics, [&](const analysis::Atomic& atomic) {
        if (atomic.access >= kernel.accesses.size())
            return false;
        auto base = kernel.accesses[atomic.access].base;
        return base != analysis::noId && isFloatingScalar(kernel.body.variable(base).type.scalar);
    });
}

/// The number of floating-point outputs from which their maximum error tells the error to expect.
constexpr std::size_t minSampledOutputs = 32;

/// The maximum number of terms in a sum, as far as the buffers tell.
std::uint64_t termsOf(const RunPair& pair) {
    std::uint64_t terms = 1;
    for (const BufferExtent& extent : pair.original.profile.extents)
        terms = std::max(terms, extent.read ? extent.elements : 0);
    return terms;
}

/// The error of a sum of `terms` terms grows as the square root of their number (Higham, Accuracy
/// and Stability, 2.6).
double errorOfSum(double roundoff, std::uint64_t terms) {
    return roundoff *
           (roundoffsAllowed + errorGrowthAllowed * std::sqrt(static_cast<double>(terms)));
}

std::size_t floatingOutputs(const RunPair& pair) {
    std::size_t count = 0;
    for (const BufferContents& output : pair.original.outputs) {
        if (isFloatingScalar(output.element))
            count += output.bytes.size() / analysis::scalarBytes(output.element);
    }
    return count;
}

/// A stated error, relative to results of magnitude 1.
double statedError(const skills::StatedError& stated, double enlarged) {
    const double error = stated.ulps * skills::unitInTheLastPlace + stated.absolute;
    return std::max(error, std::min(largestStatedError, error * enlarged));
}

Tolerance toleranceWithoutReference(const RunPair& pair, const Closeness& closeness) {
    const skills::Accuracy& accuracy = closeness.accuracy;
    const std::uint64_t terms = termsOf(pair);
    double roundoff = unitRoundoff(analysis::ScalarKind::Float);
    for (const BufferContents& output : pair.original.outputs) {
        if (isFloatingScalar(output.element))
            roundoff = std::max(roundoff, unitRoundoff(output.element));
    }
    // Both are rounded to the output's type, and may fall on either side of a rounding boundary.
    if (accuracy.numerics == skills::Numerics::ReducedPrecision)
        return {false, errorOfSum(unitRoundoff(analysis::ScalarKind::Float), terms) +
                           statedError(accuracy.error, enlargedWithoutReference) + 2 * roundoff};
    if (closeness.onlyStoresHalf)
        return {false, errorOfSum(unitRoundoff(analysis::ScalarKind::Float), terms) + 2 * roundoff};
    return {false, errorOfSum(roundoff, terms)};
}

/// The tolerance that follows from the original's own error.
Tolerance toleranceBeside(const Comparison& own, const RunPair& pair, const Closeness& closeness) {
    const skills::Numerics numerics = closeness.accuracy.numerics;
    double roundoff = 0;
    for (const BufferContents& output : pair.original.outputs)
        roundoff = std::max(roundoff, unitRoundoff(output.element));
    const double computing = closeness.onlyStoresHalf
                                 ? std::min(roundoff, unitRoundoff(analysis::ScalarKind::Float))
                                 : roundoff;
    Tolerance tolerance{
        false, std::max(errorGrowthAllowed * own.maxError,
                        roundoffsAllowed * computing + (computing < roundoff ? 2 * roundoff : 0))};
    // The error of one sum says little of the error of another order: the original may have been
    // lucky.
    if (numerics == skills::Numerics::Reassociates && floatingOutputs(pair) < minSampledOutputs)
        tolerance.scaledError =
            std::max(tolerance.scaledError, errorOfSum(roundoff, termsOf(pair)));
    // For a kernel in double the reference is the kernel itself, and its error stays unknown. A sum
    // of n terms has at most n roundings of error (Higham, 4.2), and comes near that if inputs with
    // few bits make all roundings go one way.
    if (numerics == skills::Numerics::Reassociates &&
        roundoff == unitRoundoff(analysis::ScalarKind::Double))
        tolerance.scaledError =
            std::max(tolerance.scaledError, roundoff * static_cast<double>(termsOf(pair)));
    // An error of a function reaches the result as much enlarged as the original's own roundings.
    if (numerics == skills::Numerics::ReducedPrecision) {
        const double enlarged =
            std::max(own.maxError, closeness.usualError) / skills::unitInTheLastPlace;
        tolerance.scaledError += statedError(closeness.accuracy.error, std::max(enlarged, 1.0));
    }
    return tolerance;
}

/// Whether the original's results tell how far from float64 those are that cancel. Of approximate
/// functions they do not: these have errors near zero that are not relative to their results.
bool isMeasureOfCancellation(const RunPair& pair, const Closeness& closeness) {
    return closeness.accuracy.numerics == skills::Numerics::Reassociates &&
           !closeness.usualScales.empty() && !closeness.onlyFiniteness &&
           floatingOutputs(pair) >= minSampledOutputs;
}

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

} // namespace

Closeness closenessFor(const analysis::KernelModel& kernel, const skills::Accuracy& accuracy) {
    Closeness closeness{accuracy, ""};
    if (accuracy.numerics == skills::Numerics::Exact && hasFloatingAtomics(kernel))
        closeness = {skills::Numerics::Reassociates,
                     "; floating-point atomics take effect in no fixed order"};
    closeness.onlyStoresHalf = computesInFullPrecision(kernel);
    return closeness;
}

double termsOfAResult(const RunPair& pair) {
    std::size_t results = 1;
    for (const BufferContents& output : pair.original.outputs)
        if (isFloatingScalar(output.element))
            results =
                std::max(results, output.bytes.size() / analysis::scalarBytes(output.element));
    return static_cast<double>(termsOf(pair)) / static_cast<double>(results);
}

Closeness closenessAt(Closeness closeness, const RunPair& pair) {
    const double terms = termsOfAResult(pair);
    if (terms >= closeness.usualTerms)
        return closeness;
    // Sums of terms of both signs grow as the root of their number, and others faster.
    for (auto& [buffer, scale] : closeness.usualScales)
        scale *= std::sqrt(terms / closeness.usualTerms);
    return closeness;
}

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
        Comparison own = compareOutputs(*truth, outputs, {false, meaningfulReference});
        if (own.agrees) {
            OutputJudgement judged =
                conclude(*truth, toleranceBeside(own, pair, closeness),
                         fmt::format("a float64 reference from which the original is {:.3g} away{}",
                                     own.maxError, closeness.note));
            judged.ownError = own.maxError;
            if (isMeasureOfCancellation(pair, closeness)) {
                Tolerance atOwnScale = toleranceBeside(own, pair, closeness);
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
            return judged;
        }
        note = "the original itself differs from it: " + own.detail;
    } else {
        note = truth.error().what;
    }
    return conclude(outputs, toleranceWithoutReference(pair, closeness),
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
