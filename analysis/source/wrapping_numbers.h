/// Arithmetic of 64 bits that wraps around instead of overflowing. Large numbers stand for unknown
/// sizes, and a product of several exceeds 64 bits; differences of such products stay right.
#pragma once

#include <cstdint>

namespace kernelskill::analysis {

[[nodiscard]] constexpr std::int64_t wrappedSum(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
[[nodiscard]] constexpr std::int64_t wrappedDifference(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
[[nodiscard]] constexpr std::int64_t wrappedProduct(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

} // namespace kernelskill::analysis
