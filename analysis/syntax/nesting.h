/// Whether a text nests deeper than anything that people or generators write.
#pragma once

#include "analysis/syntax/lexer.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The max number of open brackets; compilers stop later, clang at 2,048. Searching tokens for
/// closing brackets takes time linear in the text as long as this holds.
inline constexpr std::uint32_t maxOpenBrackets = 256;
/// The max number of operators without an operand between them.
inline constexpr std::uint32_t maxOperatorsInARow = 10'000;
/// The max number of comparisons, or of angle brackets, before the next comma or end of a
/// statement: `a < b < c …` takes clang quadratic time.
inline constexpr std::uint32_t maxComparisons = 10'000;

/// The first token that is nested deeper; nullopt if there is none.
[[nodiscard]] std::optional<Span> tooDeeplyNested(const std::vector<Token>& tokens);
[[nodiscard]] std::optional<Span> tooDeeplyNested(std::string_view text);

} // namespace kernelskill::analysis
