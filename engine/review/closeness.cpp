#include "engine/review/closeness.h"

#include "analysis/model/scalar_kinds.h"
#include "analysis/syntax/scalar_bytes.h"
#include "engine/review/arithmetic_precision.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace kernelskill::engine {
namespace {

/// The maximum error of the candidate relative to the error of the original, both against float64.
/// A reordered sum has a different error of the same magnitude.
constexpr double errorGrowthAllowed = 4;
/// An error below this many units of roundoff passes, even if the original was more exact.
constexpr double roundoffsAllowed = 16;
/// However much the kernel enlarges what the edit states, more is no rounding.
constexpr double largestStatedError = 5e-3;
/// The enlargement that is taken for granted where no float64 reference shows it.
constexpr double enlargedWithoutReference = 16;
/// Roundings in float64 may by chance add up to so many times as much as those in float.
constexpr double formsMargin = 1024;
/// A rounded number may enter a result several times.
constexpr double numbersMargin = 4;
/// The number of floating-point outputs from which their maximum error tells the error to expect.
constexpr std::size_t minSampledOutputs = 32;

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

/// Bounds the number of terms in a sum by the elements that are read and, where results are few, by
/// the threads: each may compute a term without reading any.
std::uint64_t termsOf(const RunPair& pair) {
    const LaunchSpec& launch = pair.original.profile.launch;
    std::uint64_t terms = 1;
    if (floatingOutputs(pair) < minSampledOutputs)
        terms = std::max(terms, launch.grid.count() * launch.block.count());
    for (const BufferExtent& extent : pair.original.profile.extents)
        terms = std::max(terms, extent.read ? extent.elements : 0);
    return terms;
}

/// A stated error, relative to results of magnitude 1.
double statedError(const skills::StatedError& stated, double enlarged) {
    const double error = stated.ulps * skills::unitInTheLastPlace + stated.absolute;
    return std::max(error, std::min(largestStatedError, error * enlarged));
}

/// The largest unit of roundoff of the outputs.
double roundoffOf(const RunPair& pair) {
    double roundoff = 0;
    for (const BufferContents& output : pair.original.outputs)
        roundoff = std::max(roundoff, unitRoundoff(output.element));
    return roundoff;
}

/// How much the kernel enlarges an error on its way to a result. Where it rounds results of float
/// to 16 bits, that rounding is no error that was enlarged, and hides those that were; where it
/// computes in 16 bits, its errors have their unit.
double enlargement(double ownError, const RunPair& pair, const Closeness& closeness) {
    const double roundoff = roundoffOf(pair);
    const double own = std::max(ownError, closeness.usualError);
    if (roundoff <= unitRoundoff(analysis::ScalarKind::Float))
        return std::max(1.0, own / skills::unitInTheLastPlace);
    return closeness.onlyStoresHalf
               ? std::max(enlargedWithoutReference, (own - roundoff) / skills::unitInTheLastPlace)
               : std::max(1.0, own / (2 * roundoff));
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

bool isMeasureOfCancellation(const RunPair& pair, const Closeness& closeness) {
    return closeness.accuracy.numerics == skills::Numerics::Reassociates &&
           !closeness.usualScales.empty() && !closeness.onlyFiniteness &&
           floatingOutputs(pair) >= minSampledOutputs;
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

Tolerance toleranceBeside(double ownError, const RunPair& pair, const Closeness& closeness) {
    const skills::Numerics numerics = closeness.accuracy.numerics;
    const double roundoff = roundoffOf(pair);
    const double computing = closeness.onlyStoresHalf
                                 ? std::min(roundoff, unitRoundoff(analysis::ScalarKind::Float))
                                 : roundoff;
    Tolerance tolerance{false,
                        std::max(errorGrowthAllowed * ownError, roundoffsAllowed * computing)};
    // A result that is rounded to 16 bits once, at its end, is as far off as that, whatever else;
    // of the error before it the rest of the original's own is all that is seen.
    if (computing < roundoff)
        tolerance.scaledError = roundoff + std::max(errorGrowthAllowed * (ownError - roundoff),
                                                    errorOfSum(computing, termsOf(pair)));
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
        tolerance.scaledError +=
            statedError(closeness.accuracy.error, enlargement(ownError, pair, closeness));
    }
    return tolerance;
}

Tolerance toleranceOfForms(double ownError, const RunPair& pair, const Closeness& closeness) {
    Closeness rounding = closeness;
    rounding.accuracy = skills::Numerics::Reassociates;
    Tolerance tolerance = toleranceBeside(ownError, pair, rounding);
    const double float32 = unitRoundoff(analysis::ScalarKind::Float);
    const double roundoff = std::max(float32, roundoffOf(pair));
    // Rounding to 16 bits hides how far off the result is before it.
    if (roundoff > float32)
        tolerance.scaledError =
            std::max(errorGrowthAllowed * ownError, errorOfSum(roundoff, termsOf(pair)));
    tolerance.scaledError *= formsMargin * unitRoundoff(analysis::ScalarKind::Double) / roundoff;
    // An approximate intrinsic becomes an exact function in float64; only new numbers keep errors.
    if (closeness.bringsRoundedNumbers) {
        const double enlarged = enlargement(ownError, pair, closeness);
        tolerance.scaledError +=
            statedError(closeness.accuracy.error, enlarged) + numbersMargin * float32 * enlarged;
    }
    return tolerance;
}

} // namespace kernelskill::engine
