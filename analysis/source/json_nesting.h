/// Bounds the nesting of JSON that others wrote: what is parsed from it is copied, written and
/// destroyed by recursive functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace kernelskill::analysis {

/// Far more than any message or file of ours has.
inline constexpr std::size_t maxJsonNesting = 200;

/// Whether brackets of `json` are nested deeper. The text need not be well-formed.
[[nodiscard]] bool isNestedTooDeeply(std::string_view json);

} // namespace kernelskill::analysis
