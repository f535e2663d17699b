#include "engine/replay/memory_numbers.h"

#include "analysis/syntax/short_floats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace kernelskill::engine {
namespace {

template <typename T>
T valueAt(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

} // namespace

std::size_t numberSize(MemoryElement element) {
    switch (element) {
    case MemoryElement::Float16:
    case MemoryElement::BFloat16:
        return 2;
    case MemoryElement::Float64:
        return 8;
    default: // Bytes are looked at as float32.
        return 4;
    }
}

double numberAt(MemoryElement element, const std::byte* at) {
    switch (element) {
    case MemoryElement::Float16:
        return analysis::halfValue(valueAt<std::uint16_t>(at));
    case MemoryElement::BFloat16:
        return analysis::bfloatValue(valueAt<std::uint16_t>(at));
    case MemoryElement::Float64:
        return valueAt<double>(at);
    default:
        return valueAt<float>(at);
    }
}

double scaleOf(MemoryElement element, std::span<const std::byte> numbers) {
    const std::size_t size = numberSize(element);
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t at = 0; at + size <= numbers.size(); at += size) {
        const double value = numberAt(element, numbers.data() + at);
        if (std::isfinite(value)) {
            sum += value * value;
            ++count;
        }
    }
    return count > 0 ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

double relativeDifference(double one, double other, double scale) {
    if (one == other || (std::isnan(one) && std::isnan(other)))
        return 0;
    if (!std::isfinite(one) || !std::isfinite(other))
        return std::numeric_limits<double>::infinity();
    return std::abs(one - other) / std::max({std::abs(one), std::abs(other), scale});
}

} // namespace kernelskill::engine
