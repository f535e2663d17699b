/// Measures how different two spellings are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The insertions, deletions, changes and swaps of neighbours that turn `from` into `to` (optimal
/// string alignment), in half units: a change of case counts one half. Distances of `limit` or more
/// (in half units) are returned as `limit`.
[[nodiscard]] std::size_t editDistance(std::string_view from, std::string_view to,
                                       std::size_t limit);

/// For comparisons that ignore case.
[[nodiscard]] std::string inLowerCase(std::string_view text);

} // namespace kernelskill::engine
