/// Computes maps where they are read: prologues.
#pragma once

#include "analysis/raise/program.h"

namespace kernelskill::analysis::raise {

/// How much work is repeated rather than written to a buffer and read again.
struct InlineLimits {
    /// Operations for each element of a buffer that is not written, in all.
    double operations = 8;
    /// How often a contraction's kernel uses an element that it has read once.
    double contractionReuse = 64;
};

/// A local buffer that a map writes and that is read by one computation only is computed there, if
/// that repeats little work. One whose map only rearranges another buffer is read there, by all
/// its readers, if the indices of reduced axes stay sums of axes.
[[nodiscard]] Program withInlinedMaps(Program program, const InlineLimits& limits = {});

} // namespace kernelskill::analysis::raise
