/// The stalls of warps, as a GPU's profiler sampled them.
#pragma once

#include "engine/execution/profile.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

struct StallShare {
    std::string reason;       ///< Nsight Compute's, "long_scoreboard"
    std::string metric;       ///< "smsp__pcsamp_warps_issue_stalled_long_scoreboard"
    double percent = 0;       ///< Share of all samples of the kernel: of the time of its warps.
    std::string_view meaning; ///< "waits for data of global or local memory"; may be empty.
};

/// The stalls of a whole kernel, most first; reasons below one percent are left out. Empty where
/// nothing was sampled.
[[nodiscard]] std::vector<StallShare> stallShares(const engine::Profile& profile);
/// The stalls of one line, as percents of the kernel's samples.
[[nodiscard]] std::vector<StallShare> stallShares(const engine::LineMetrics& line);

/// "long_scoreboard 61 % (waits for data of global or local memory)"
[[nodiscard]] std::string describe(const StallShare& share);

} // namespace kernelskill::lsp
