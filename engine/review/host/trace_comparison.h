/// Whether one trace of a host function asks the GPU for the same work as another, in an order that
/// nobody can tell from the other's.
#pragma once

#include "engine/review/host/host_steps.h"

#include <cstddef>
#include <string>

namespace kernelskill::engine {

struct TraceComparison {
    std::string difference; ///< What is wrong with `after` first; empty: nothing.
    bool isFollowed = true; ///< False: the difference says why nothing is known.
    std::size_t works = 0;  ///< Launches, copies, records and other calls of both.
    std::size_t moved = 0;  ///< Of these, those that are in another stream afterwards.
};

/// The same launches, copies and calls, with the same arguments, must be there. Of two that may
/// touch the same memory, one of them writing, the one that was over before the other began still
/// is; the work of others before and after the function, and what the host reads, count too.
/// Streams may be others, and `after` may wait more or less, as long as that holds.
[[nodiscard]] TraceComparison compareTraces(const HostTrace& before, const HostTrace& after);

} // namespace kernelskill::engine
