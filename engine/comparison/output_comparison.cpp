#include "engine/comparison/output_comparison.h"

#include "analysis/model/scalar_kinds.h"
#include "engine/execution/buffer_fill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;

template <typename T>
T loaded(const std::byte* from) {
    T value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}

std::string bytesInHex(std::span<const std::byte> bytes) {
    std::string text = "0x";
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(*byte));
    return text;
}

std::string shown(ScalarKind kind, std::span<const std::byte> bytes) {
    if (isFloatingScalar(kind))
        return fmt::format("{:.9g}", floatingScalar(kind, bytes.data()));
    switch (kind) {
    case ScalarKind::Int32:
        return fmt::format("{}", loaded<std::int32_t>(bytes.data()));
    case ScalarKind::UInt32:
        return fmt::format("{}", loaded<std::uint32_t>(bytes.data()));
    case ScalarKind::Int64:
        return fmt::format("{}", loaded<std::int64_t>(bytes.data()));
    case ScalarKind::UInt64:
        return fmt::format("{}", loaded<std::uint64_t>(bytes.data()));
    default:
        return bytesInHex(bytes);
    }
}

/// The scale of an output that should be zero everywhere: what rounding leaves of differences of
/// numbers near 1.
constexpr double scaleOfZeros = 1e-6;

/// The smallest scale of a lane, relative to the whole output's.
constexpr double smallestLane = 0x1p-10;

double scaledError(double expected, double actual, double scale) {
    if (std::isnan(expected) && std::isnan(actual))
        return 0;
    if (expected == actual)
        return 0;
    if (!std::isfinite(expected) || !std::isfinite(actual))
        return std::numeric_limits<double>::infinity();
    double base = std::max(std::abs(expected), scale);
    return base > 0 ? std::abs(actual - expected) / base : std::numeric_limits<double>::infinity();
}

void differ(Comparison& result, std::string detail) {
    if (result.agrees)
        result.detail = std::move(detail);
    result.agrees = false;
}

/// Fewer bytes than this may equal poison by chance.
constexpr std::size_t minPoisonBytes = 2;

bool isPoison(const ScalarRow& row, std::size_t index) {
    std::array<std::byte, sizeof poisonWord> pattern{};
    std::memcpy(pattern.data(), &poisonWord, sizeof poisonWord);
    const auto bytes = row.bytes(index);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (bytes[at] != pattern[(index * row.step + at) % pattern.size()])
            return false;
    }
    return bytes.size() >= minPoisonBytes;
}

/// Collects the differing elements of one output, in order.
class DifferenceTally {
public:
    DifferenceTally(const ScalarRow& expected, const ScalarRow& actual)
        : expected_(expected), actual_(actual) {
        found_.buffer = actual.buffer.name;
        found_.elements = actual.size();
    }

    /// `error` as in Tolerance; nullopt if there is none.
    void add(std::size_t index, std::optional<double> error) {
        if (found_.differing++ == 0) {
            found_.first = index;
            found_.actual = shown(actual_.buffer.element, actual_.bytes(index));
            found_.expected = shown(expected_.buffer.element, expected_.bytes(index));
            found_.maxError = 0;
        }
        found_.last = index;
        found_.unwritten += isPoison(actual_, index) ? 1 : 0;
        if (!error || !std::isfinite(*error))
            found_.maxError = std::nullopt;
        else if (found_.maxError)
            found_.maxError = std::max(*found_.maxError, *error);
    }
    /// `because` is appended after the first element.
    void conclude(Comparison& result, std::string_view because) {
        if (found_.differing == 0)
            return;
        differ(result, fmt::format("{}[{}] is {} where {} is expected{}", found_.buffer,
                                   found_.first, found_.actual, found_.expected, because));
        if (!result.difference)
            result.difference = std::move(found_);
    }

private:
    const ScalarRow& expected_;
    const ScalarRow& actual_;
    Difference found_;
};

/// The scale of each lane. A lane that is far below the others is judged as if it were not.
std::vector<double> laneScales(const ScalarRow& expected, const Tolerance& tolerance) {
    const std::string& name = expected.buffer.name;
    const double size = std::max(rootMeanSquare(expected), usualScale(tolerance.usualScales, name));
    if (size == 0)
        return {scaleOfZeros};
    if (expected.lanes() == 1)
        return {size};
    std::vector<double> scales = rootMeanSquares(expected);
    for (std::size_t lane = 0; lane < scales.size(); ++lane)
        scales[lane] =
            std::max({scales[lane], usualScale(tolerance.usualScales, laneName(name, lane)),
                      smallestLane * size});
    return scales;
}

void compareFloating(Comparison& result, const ScalarRow& expected, const ScalarRow& actual,
                     const Tolerance& tolerance) {
    const std::vector<double> scales = laneScales(expected, tolerance);
    double largest = 0;
    double firstWrong = 0;
    std::size_t where = 0;
    DifferenceTally tally(expected, actual);
    for (std::size_t index = 0; index < actual.size(); ++index) {
        const double error =
            scaledError(expected.value(index), actual.value(index), scales[index % scales.size()]);
        if (error > largest) {
            largest = error;
            where = index;
        }
        if (error > tolerance.scaledError) {
            if (firstWrong == 0)
                firstWrong = error;
            tally.add(index, error);
        }
    }
    tally.conclude(result, fmt::format(": scaled error {:.3g}, allowed {:.3g}", firstWrong,
                                       tolerance.scaledError));
    if (largest > result.maxError) {
        result.maxError = largest;
        if (result.agrees)
            result.detail = fmt::format("largest scaled error {:.3g} at {}[{}], allowed {:.3g}",
                                        largest, actual.buffer.name, where, tolerance.scaledError);
    }
}

void compareExactly(Comparison& result, const ScalarRow& expected, const ScalarRow& actual) {
    const bool isFloat = isFloatingScalar(actual.buffer.element);
    const double scale = isFloat ? rootMeanSquare(expected) : 0;
    DifferenceTally tally(expected, actual);
    for (std::size_t index = 0; index < actual.size(); ++index) {
        if (std::ranges::equal(expected.bytes(index), actual.bytes(index)))
            continue;
        if (!isFloat) {
            tally.add(index, std::nullopt);
            continue;
        }
        const double left = expected.value(index);
        const double right = actual.value(index);
        if (!std::isnan(left) || !std::isnan(right))
            tally.add(index, scaledError(left, right, scale));
    }
    tally.conclude(result, "");
}

} // namespace

Comparison compareOutputs(const std::vector<BufferContents>& expected,
                          const std::vector<BufferContents>& actual, const Tolerance& tolerance) {
    Comparison result;
    if (expected.size() != actual.size())
        differ(result, fmt::format("{} output buffers where {} are expected", actual.size(),
                                   expected.size()));
    std::size_t elements = 0;
    for (const BufferContents& wanted : expected) {
        if (wanted.bytes.empty())
            continue;
        auto found = std::ranges::find(actual, wanted.name, &BufferContents::name);
        if (found == actual.end()) {
            differ(result, fmt::format("{} is missing from the outputs", wanted.name));
            continue;
        }
        ScalarRow expectedRow(wanted);
        ScalarRow actualRow(*found);
        if (expectedRow.size() != actualRow.size()) {
            differ(result, fmt::format("{} has {} elements where {} are expected", wanted.name,
                                       actualRow.size(), expectedRow.size()));
            continue;
        }
        elements += actualRow.size();
        if (wanted.element == found->element && wanted.bytes == found->bytes)
            continue;
        bool isRounded = !tolerance.bitExact && isFloatingScalar(wanted.element) &&
                         isFloatingScalar(found->element);
        if (isRounded)
            compareFloating(result, expectedRow, actualRow, tolerance);
        else
            compareExactly(result, expectedRow, actualRow);
    }
    if (result.agrees && result.detail.empty())
        result.detail = fmt::format("{} elements, equal bit by bit", elements);
    return result;
}

std::vector<BufferContents> withinRange(std::vector<BufferContents> expected,
                                        const std::vector<BufferContents>& reference,
                                        const std::vector<BufferContents>& actual,
                                        double relativeError) {
    const auto named = [](const std::vector<BufferContents>& all, const std::string& name) {
        return std::ranges::find(all, name, &BufferContents::name);
    };
    for (BufferContents& buffer : expected) {
        const auto wide = named(reference, buffer.name);
        const auto found = named(actual, buffer.name);
        if (buffer.element != ScalarKind::Float || wide == reference.end() ||
            wide->element != ScalarKind::Double || found == actual.end() ||
            found->element != ScalarKind::Float || found->bytes.size() != buffer.bytes.size())
            continue;
        const ScalarRow row(buffer);
        const ScalarRow wanted(*wide);
        const ScalarRow better(*found);
        for (std::size_t index = 0; index < std::min(row.size(), wanted.size()); ++index) {
            if (std::isfinite(row.value(index)) || !std::isfinite(wanted.value(index)))
                continue;
            const double rounded = static_cast<float>(wanted.value(index));
            if (scaledError(rounded, better.value(index), std::numeric_limits<float>::min()) <=
                relativeError)
                std::ranges::copy(better.bytes(index),
                                  buffer.bytes.begin() +
                                      static_cast<std::ptrdiff_t>(index * row.step));
        }
    }
    return expected;
}

std::map<std::string, double> scalesOf(const std::vector<BufferContents>& outputs) {
    std::map<std::string, double> scales;
    for (const BufferContents& output : outputs) {
        if (!isFloatingScalar(output.element))
            continue;
        const ScalarRow row(output);
        scales.emplace(output.name, rootMeanSquare(row));
        const std::vector<double> lanes = rootMeanSquares(row);
        for (std::size_t lane = 0; lane < lanes.size() && lanes.size() > 1; ++lane)
            scales.emplace(laneName(output.name, lane), lanes[lane]);
    }
    return scales;
}

std::vector<BufferContents> zeroed(std::vector<BufferContents> outputs) {
    for (BufferContents& buffer : outputs)
        std::ranges::fill(buffer.bytes, std::byte{0});
    return outputs;
}

std::vector<BufferContents> constantFilled(std::vector<BufferContents> outputs) {
    for (BufferContents& buffer : outputs) {
        std::size_t step = std::max(buffer.elementBytes, 1u);
        for (std::size_t begin = step; begin < buffer.bytes.size(); begin += step)
            std::copy_n(buffer.bytes.begin(), std::min(step, buffer.bytes.size() - begin),
                        buffer.bytes.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    return outputs;
}

} // namespace kernelskill::engine
