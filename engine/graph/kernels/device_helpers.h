/// Device functions that generated kernels call, as text.
#pragma once

#include <set>
#include <string>

namespace kernelskill::engine::graph {

/// The definitions of these functions and of those that they call, callees first; each name has to
/// be one of the table's.
[[nodiscard]] std::string helperTexts(const std::set<std::string>& names);

} // namespace kernelskill::engine::graph
