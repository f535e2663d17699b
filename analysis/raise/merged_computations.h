/// Does in one pass what several computations do over the same elements.
#pragma once

#include "analysis/raise/fused_stores.h"
#include "analysis/raise/program.h"

namespace kernelskill::analysis::raise {

/// Reductions over the same axes, and maps and scans over the same axes, that load the same
/// elements and do not need each other's results become one computation. Contractions stay alone.
/// A buffer that holds the same as another is not written: its readers read the other.
[[nodiscard]] Program withMergedComputations(Program program, const StoreLimits& limits = {});

} // namespace kernelskill::analysis::raise
