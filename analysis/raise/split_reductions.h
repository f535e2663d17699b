/// Splits long reductions with few results in two: one of parts, and one of the parts' results.
#pragma once

#include "analysis/raise/program.h"

#include <cstdint>

namespace kernelskill::analysis::raise {

struct SplitLimits {
    std::int64_t maxResults = 264;    ///< A reduction with more results is left as it is.
    std::int64_t minElements = 16384; ///< So is a reduction over fewer elements.
    std::int64_t wantedParts = 1056;  ///< The number of parts of all results together.
    std::int64_t minPartElements = 2048;
    // For reductions that read across their elements, whose parts have a thread, not a block:
    std::int64_t maxThreadResults = 16384; ///< With more, enough loads are in flight without.
    std::int64_t wantedThreads = 65536;
    std::int64_t minThreadElements = 64;
};

/// Splits reductions with a constant number of results. If the number of elements is known only
/// when the program runs, and may be large, there are as many parts as for a large one. Sums are
/// added up in another order. A reduction that finds a place is left as it is.
///
/// A reduction reads across its elements if neighbours in memory belong to other results, as a sum
/// of each channel does in channels-last order, or if only few of its elements lie next to each
/// other: then neighbours are reduced in different parts.
[[nodiscard]] Program withSplitReductions(Program program, const SplitLimits& limits = {});

} // namespace kernelskill::analysis::raise
