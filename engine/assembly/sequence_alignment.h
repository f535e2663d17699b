/// The longest common subsequence of two sequences, in linear space.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Indices of the elements that both have in common, rising in both. Takes time as the product of
/// the lengths of what differs; where that is beyond 10^9, only what both begin and end with.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>>
commonElements(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after);

} // namespace kernelskill::engine
