/// Checks that two traces of a host function give the GPU the same work, in orders with the same
/// effect.
#pragma once

#include "engine/review/host/host_steps.h"

#include <cstddef>
#include <string>

namespace kernelskill::engine {

struct TraceComparison {
    std::string difference; ///< The first difference of `after`; empty: none.
    bool isFollowed = true; ///< False: the difference says why nothing is known.
    std::size_t works = 0;  ///< Launches, copies, records and other calls of both.
    std::size_t moved = 0;  ///< The works that are in another stream afterwards.
};

/// The same launches, copies and calls, with the same arguments, must be there. Two works are in
/// conflict if they may touch the same memory and one of them writes it. Where one was over before
/// the other began, it must still be. The work of others before and after the function, and the
/// reads of the host, count too. Streams may be others, and `after` may wait more or less, as long
/// as that holds.
[[nodiscard]] TraceComparison compareTraces(const HostTrace& before, const HostTrace& after);

} // namespace kernelskill::engine
