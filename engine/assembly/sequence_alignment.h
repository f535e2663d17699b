/// The longest common subsequence of two sequences, in linear space.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// The pairs of indices of the common elements, ascending in both. The time is the product of the
/// lengths of the differing parts. If that exceeds 10^9, only the common beginning and end are
/// found.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>>
commonElements(std::span<const std::uint32_t> before, std::span<const std::uint32_t> after);

} // namespace kernelskill::engine
