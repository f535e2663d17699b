/// Which header declares a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Headers that declare `name`, the usual one first: "printf" -> <cstdio>. Empty when it is not in
/// the table. `isInStd` for a name that was written with `std::`.
[[nodiscard]] std::vector<std::string_view> headersFor(std::string_view name, bool isInStd);

/// Names of headers that people include in CUDA programs, for telling what a misspelled one meant.
[[nodiscard]] std::vector<std::string_view> commonHeaders();

} // namespace kernelskill::engine
