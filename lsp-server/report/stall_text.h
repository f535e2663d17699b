/// What warps waited for, as a GPU's profiler sampled it.
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
    double percent = 0;       ///< Of all samples of the kernel: of the time of its warps.
    std::string_view meaning; ///< "waits for data of global or local memory"; may be empty.
};

/// Of a whole kernel, most first; reasons below one percent are left out. Empty where nothing was
/// sampled.
[[nodiscard]] std::vector<StallShare> stallShares(const engine::Profile& profile);
/// Of the samples of one line, as percents of the kernel's.
[[nodiscard]] std::vector<StallShare> stallShares(const engine::LineMetrics& line);

/// "long_scoreboard 61 % (waits for data of global or local memory)"
[[nodiscard]] std::string describe(const StallShare& share);

} // namespace kernelskill::lsp
