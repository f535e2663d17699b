/// How far one spelling is from another.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Insertions, deletions, changes and swaps of neighbours that turn `from` into `to` (optimal
/// string alignment), in half units: a change of case only counts one half. `limit` (in the same
/// units) or more is returned as `limit`.
[[nodiscard]] std::size_t editDistance(std::string_view from, std::string_view to,
                                       std::size_t limit);

/// For names that are compared whatever their case.
[[nodiscard]] std::string inLowerCase(std::string_view text);

} // namespace kernelskill::engine
