/// Finds texts whose macros expand to far more than what stands in them.
#pragma once

#include "analysis/source/source_text.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace kernelskill::analysis {

/// A parser takes some microseconds and a hundred bytes for each, and cannot be stopped.
inline constexpr std::size_t maxExpandedTokens = 1'000'000;

/// The use of a macro at which those that `text` defines have made more than maxExpandedTokens, and
/// more than some times the tokens of the text; nullopt if they do not. Takes time linear in the
/// text, or in the maximum.
[[nodiscard]] std::optional<Span> findMacroExplosion(std::string_view text);

} // namespace kernelskill::analysis
