/// Accesses by vector types as text.
#pragma once

#include "skills/editing/code_lines.h"

#include <array>
#include <cstddef>
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

/// Adds `const bool name = condition;`. Where that is too long for a line behind so much
/// `indentation`, which stands for what `lines` are indented by, it breaks behind operators.
void addCondition(CodeLines& lines, const analysis::SourceLayout& layout, const std::string& name,
                  std::string condition, std::size_t indentation);

} // namespace kernelskill::skills
