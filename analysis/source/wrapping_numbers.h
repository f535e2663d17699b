/// Arithmetic of 64 bits that wraps around. Products of many sizes that are not known, which stand
/// as large numbers, leave 64 bits; what lies between two of them is right all the same.
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
