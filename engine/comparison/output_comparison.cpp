#include "engine/comparison/output_comparison.h"

#include "engine/execution/buffer_fill.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <bit>
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

double halfValue(std::uint16_t bits) {
    int exponent = (bits >> 10) & 0x1f;
    int mantissa = bits & 0x3ff;
    double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 0x1f)
        return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0)
        return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

double floatingValue(ScalarKind kind, const std::byte* from) {
    switch (kind) {
    case ScalarKind::Half:
        return halfValue(loaded<std::uint16_t>(from));
    case ScalarKind::BFloat16:
        return std::bit_cast<float>(static_cast<std::uint32_t>(loaded<std::uint16_t>(from)) << 16);
    case ScalarKind::Float:
        return loaded<float>(from);
    case ScalarKind::Double:
        return loaded<double>(from);
    default:
        return 0;
    }
}

std::string bytesInHex(std::span<const std::byte> bytes) {
    std::string text = "0x";
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
        text += fmt::format("{:02x}", std::to_integer<unsigned>(*byte));
    return text;
}

std::string shown(ScalarKind kind, std::span<const std::byte> bytes) {
    if (isFloating(kind))
        return fmt::format("{:.9g}", floatingValue(kind, bytes.data()));
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

/// A buffer as an array of scalars.
struct Row {
    const BufferContents& buffer;
    std::uint32_t step;

    explicit Row(const BufferContents& contents)
        : buffer(contents),
          step(scalarBytes(contents.element) != 0 ? scalarBytes(contents.element)
                                                  : std::max(contents.elementBytes, 1u)) {}
    [[nodiscard]] std::size_t size() const { return buffer.bytes.size() / step; }
    [[nodiscard]] std::span<const std::byte> bytes(std::size_t index) const {
        return std::span(buffer.bytes).subspan(index * step, step);
    }
    [[nodiscard]] double value(std::size_t index) const {
        return floatingValue(buffer.element, bytes(index).data());
    }
};

double rootMeanSquare(const Row& row) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t index = 0; index < row.size(); ++index) {
        double value = row.value(index);
        if (std::isfinite(value)) {
            sum += value * value;
            ++count;
        }
    }
    return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

/// The scale of an output that should be zero everywhere: what rounding leaves of differences of
/// numbers near 1.
constexpr double scaleOfZeros = 1e-6;

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

bool isPoison(const Row& row, std::size_t index) {
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
    DifferenceTally(const Row& expected, const Row& actual) : expected_(expected), actual_(actual) {
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
    const Row& expected_;
    const Row& actual_;
    Difference found_;
};

void compareFloating(Comparison& result, const Row& expected, const Row& actual,
                     const Tolerance& tolerance) {
    // A part of an output, "y[4096..]", may hold one number that happens to be small.
    const std::string& name = actual.buffer.name;
    const auto usual = tolerance.usualScales.find(name.substr(0, name.find('[')));
    const double size = std::max(rootMeanSquare(expected),
                                 usual == tolerance.usualScales.end() ? 0 : usual->second);
    const double scale = size > 0 ? size : scaleOfZeros;
    double largest = 0;
    double firstWrong = 0;
    std::size_t where = 0;
    DifferenceTally tally(expected, actual);
    for (std::size_t index = 0; index < actual.size(); ++index) {
        const double error = scaledError(expected.value(index), actual.value(index), scale);
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

void compareExactly(Comparison& result, const Row& expected, const Row& actual) {
    const bool isFloat = isFloating(actual.buffer.element);
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

std::uint32_t scalarBytes(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Bool:
    case ScalarKind::Char:
    case ScalarKind::UInt8:
        return 1;
    case ScalarKind::Int16:
    case ScalarKind::UInt16:
    case ScalarKind::Half:
    case ScalarKind::BFloat16:
        return 2;
    case ScalarKind::Int32:
    case ScalarKind::UInt32:
    case ScalarKind::Float:
        return 4;
    case ScalarKind::Int64:
    case ScalarKind::UInt64:
    case ScalarKind::Double:
        return 8;
    case ScalarKind::Unknown:
    case ScalarKind::Void:
        return 0;
    }
    return 0;
}

bool isFloating(ScalarKind kind) {
    return unitRoundoff(kind) > 0;
}

double unitRoundoff(ScalarKind kind) {
    switch (kind) {
    case ScalarKind::Half:
        return 0x1p-11;
    case ScalarKind::BFloat16:
        return 0x1p-8;
    case ScalarKind::Float:
        return 0x1p-24;
    case ScalarKind::Double:
        return 0x1p-53;
    default:
        return 0;
    }
}

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
        Row expectedRow(wanted);
        Row actualRow(*found);
        if (expectedRow.size() != actualRow.size()) {
            differ(result, fmt::format("{} has {} elements where {} are expected", wanted.name,
                                       actualRow.size(), expectedRow.size()));
            continue;
        }
        elements += actualRow.size();
        bool isRounded =
            !tolerance.bitExact && isFloating(wanted.element) && isFloating(found->element);
        if (isRounded)
            compareFloating(result, expectedRow, actualRow, tolerance);
        else
            compareExactly(result, expectedRow, actualRow);
    }
    if (result.agrees && result.detail.empty())
        result.detail = fmt::format("{} elements, equal bit by bit", elements);
    return result;
}

std::map<std::string, double> scalesOf(const std::vector<BufferContents>& outputs) {
    std::map<std::string, double> scales;
    for (const BufferContents& output : outputs) {
        if (isFloating(output.element))
            scales.emplace(output.name, rootMeanSquare(Row(output)));
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
