/// Finds the floating-point numbers that a text states.
#pragma once

#include <set>
#include <string_view>

namespace kernelskill::engine {

/// The value of each floating literal of a text of CUDA, also in macros, as often as it occurs.
/// Suffixes are ignored: `0.1f` is 0.1.
[[nodiscard]] std::multiset<double> floatingLiterals(std::string_view text);

} // namespace kernelskill::engine
