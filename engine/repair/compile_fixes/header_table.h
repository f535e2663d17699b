/// Finds the header that declares a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The headers that declare `name`, the usual one first: "printf" -> <cstdio>. Empty if the table
/// does not have it. `isInStd`: the name was written with `std::`.
[[nodiscard]] std::vector<std::string_view> headersFor(std::string_view name, bool isInStd);

/// The headers that CUDA programs often include, for finding the meaning of a misspelled one.
[[nodiscard]] std::vector<std::string_view> commonHeaders();

} // namespace kernelskill::engine
