/// What host code says of the lengths of arrays in its allocations and copies.
#pragma once

#include "analysis/queries/code_map.h"

#include <cstdint>
#include <optional>

namespace kernelskill::analysis {

/// Returns how many bytes the host function says that the array has which `pointer` leads to, where
/// the text tells: by its declaration, by what cudaMalloc() and its like give the variable, else by
/// what the runtime's calls set or copy of it. The largest, where it says several.
///
/// It may be wrong of the array at a launch, as for a variable that is allocated twice: for edits
/// that are right whatever the length.
[[nodiscard]] std::optional<std::int64_t> statedBytes(const CodeMap& host, ExprId pointer);

} // namespace kernelskill::analysis
