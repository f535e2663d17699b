/// Accesses by vector types as text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

inline constexpr std::array<std::string_view, 4> vectorComponents = {"x", "y", "z", "w"};

/// An address, as an expression, at which a vector of so many bytes is accessed.
struct VectorAddress {
    std::string text;
    std::uint32_t bytes = 0;
};

/// The condition that every address is a multiple of its vector.
[[nodiscard]] std::string alignmentCondition(const std::vector<VectorAddress>& addresses);

} // namespace kernelskill::skills
