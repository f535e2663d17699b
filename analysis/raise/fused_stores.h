/// Puts maps into the computations whose results they read: epilogues.
#pragma once

#include "analysis/raise/program.h"

#include <cstddef>

namespace kernelskill::analysis::raise {

/// How much is put into one computation.
struct StoreLimits {
    std::size_t stores = 4; ///< The most stores of one computation.
};

/// A map that reads a local buffer at one place only, which goes with the map's own elements one
/// by one (a permutation, or axes that are split and merged), becomes a store of the computation
/// that writes the buffer, with the value itself in the place of the load. What else the map reads
/// has to exist before. The buffer is no longer stored if nothing else reads it.
[[nodiscard]] Program withFusedStores(Program program, const StoreLimits& limits = {});

} // namespace kernelskill::analysis::raise
