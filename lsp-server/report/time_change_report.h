/// Says how the times of a program's kernels changed since its last run.
#pragma once

#include "engine/whole_program/run_comparison.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// [{kernel, status, before_microseconds, after_microseconds, speedup, least, most, reason, text}]
[[nodiscard]] nlohmann::json timeChangesJson(const std::vector<engine::KernelTimeChange>& changes);

/// "2.03 times as fast, 18.4 µs to 9.1 µs"
[[nodiscard]] std::string timeChangeDetail(const engine::KernelTimeChange& change);

/// "columnSums: 2.03 times as fast, 18.4 µs to 9.1 µs"
[[nodiscard]] std::string timeChangeText(const engine::KernelTimeChange& change);

/// "3 kernels: 1 faster, 2 same; columnSums: 2.03 times as fast, ...": all that are faster or
/// slower with certainty.
[[nodiscard]] std::string timeChangesText(const std::vector<engine::KernelTimeChange>& changes);

} // namespace kernelskill::lsp
