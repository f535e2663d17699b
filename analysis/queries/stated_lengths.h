/// Reads the lengths of arrays from the allocations and copies in host code.
#pragma once

#include "analysis/queries/code_map.h"

#include <cstdint>
#include <optional>

namespace kernelskill::analysis {

/// Returns the bytes of the array that `pointer` points to, as the host function states them: by
/// the array's declaration, by allocations of the variable (cudaMalloc() and its like), else by
/// calls that set or copy the array. Of several sizes the largest; nullopt if none is stated.
///
/// A variable may be allocated twice, so that the array of a launch may be another one. An edit has
/// to be right whatever the length.
[[nodiscard]] std::optional<std::int64_t> statedBytes(const CodeMap& host, ExprId pointer);

} // namespace kernelskill::analysis
