#include "engine/comparison/error_distribution.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/comparison/scalar_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelskill::engine {
namespace {

/// A result below this part of its output's scale is small. What the reference's own rounding left
/// of a sum that cancels is small, too: then the original does not agree with it, and misses it.
constexpr double smallPart = 0x1p-10;
/// The original keeps a result to this relative error; it is lost above the other one. Between them
/// is more than another order of the same operations makes of it.
constexpr double keptError = 0x1p-10;
constexpr double lostError = 0x1p-4;
/// Results nearer to the smallest number than this factor do not count: their factors may
/// underflow, in one order or the other.
constexpr double underflowRoom = 0x1p16;
/// A result from which the original is so many units away cancelled: its errors tell no bias.
constexpr double cancelled = 64;

double smallestNormal(analysis::ScalarKind kind) {
    switch (kind) {
    case analysis::ScalarKind::Half:
        return 0x1p-14;
    case analysis::ScalarKind::Double:
        return std::numeric_limits<double>::min();
    default:
        return std::numeric_limits<float>::min();
    }
}

const BufferContents* named(const std::string& name, const std::vector<BufferContents>& outputs) {
    const auto found = std::ranges::find(outputs, name, &BufferContents::name);
    return found == outputs.end() ? nullptr : &*found;
}

/// `was` and `is`: the errors of both kernels.
void addSmall(OutputErrors& errors, double magnitude, double was, double is) {
    const double own = std::abs(was) / magnitude;
    SmallResults& small = errors.small[std::ilogb(magnitude)];
    if (own > std::max(keptError, 2 * errors.unit)) {
        ++small.missed;
        return;
    }
    ++small.kept;
    small.relativeError = std::max(small.relativeError, own);
    if (std::abs(is) > std::max(lostError, 2 * errors.unit) * magnitude)
        ++small.lost;
    if (is != 0)
        ++small.candidateErrors[std::ilogb(is / magnitude)];
}

} // namespace

void ErrorMoments::add(double error, double weight) {
    weights_ += weight * weight;
    products_ += weight * error;
    errors_ += error * error;
}

double ErrorMoments::bias() const {
    return weights_ > 0 ? products_ / weights_ : 0;
}

double ErrorMoments::spread() const {
    return weights_ > 1 ? std::sqrt(std::max(errors_ - bias() * products_, 0.0) / (weights_ - 1))
                        : 0;
}

double ErrorMoments::doubt() const {
    return weights_ > 0 ? spread() / std::sqrt(weights_) : 0;
}

std::uint64_t SmallResults::furtherThan(double relativeError) const {
    std::uint64_t count = 0;
    for (const auto& [exponent, results] : candidateErrors)
        if (std::ldexp(1, exponent) > relativeError)
            count += results;
    return count;
}

OutputErrors& ErrorDistribution::errorsOf(const BufferContents& output) {
    const std::string name = wholeName(output.name);
    const auto found = std::ranges::find(outputs_, name, &OutputErrors::buffer);
    if (found != outputs_.end())
        return *found;
    OutputErrors& errors = outputs_.emplace_back();
    errors.buffer = name;
    errors.unit = 2 * unitRoundoff(output.element);
    return errors;
}

void ErrorDistribution::add(const std::vector<BufferContents>& reference,
                            const std::vector<BufferContents>& original,
                            const std::vector<BufferContents>& candidate,
                            const std::map<std::string, double>& scales, double allowed) {
    for (const BufferContents& output : original) {
        const BufferContents* exact = named(output.name, reference);
        const BufferContents* other = named(output.name, candidate);
        if (!isFloatingScalar(output.element) || exact == nullptr || other == nullptr)
            continue;
        const ScalarRow truth(*exact);
        const ScalarRow before(output);
        const ScalarRow after(*other);
        if (truth.size() != before.size() || after.size() != before.size())
            continue;
        const double own = rootMeanSquare(truth);
        const double scale = std::max(own, usualScale(scales, output.name));
        const double smallest = underflowRoom * smallestNormal(output.element);
        OutputErrors& errors = errorsOf(output);
        errors.scale = std::max(errors.scale, scale);
        for (std::size_t index = 0; index < before.size(); ++index) {
            const double expected = truth.value(index);
            const double was = before.value(index) - expected;
            const double is = after.value(index) - expected;
            if (!std::isfinite(was) || !std::isfinite(is) || (was == 0 && is == 0) || scale == 0)
                continue;
            const double magnitude = std::abs(expected);
            const double usualUnit = errors.unit * std::max(magnitude, scale);
            const double error = std::abs(is) / usualUnit;
            if (error > errors.candidate.largest)
                errors.allowed = allowed / errors.unit;
            errors.candidate.largest = std::max(errors.candidate.largest, error);
            errors.original.largest = std::max(errors.original.largest, std::abs(was) / usualUnit);
            ++errors.candidate.count;
            ++errors.original.count;
            const double base = std::max(magnitude, own);
            const double unit = std::copysign(errors.unit * base, expected);
            if (base > 0 && std::abs(was / unit) <= cancelled) {
                errors.original.add(was / unit, magnitude / base);
                errors.candidate.add(is / unit, magnitude / base);
            }
            if (magnitude >= smallest && magnitude <= smallPart * scale)
                addSmall(errors, magnitude, was, is);
        }
    }
}

} // namespace kernelskill::engine
