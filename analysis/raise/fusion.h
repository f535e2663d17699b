/// Puts the computations of a program together, so that less is written and read. The meaning
/// stays, and so does the order in which sums are formed. Buffers keep their numbers: one that no
/// step writes or reads needs no memory.
#pragma once

#include "analysis/raise/fused_stores.h"
#include "analysis/raise/inlined_maps.h"
#include "analysis/raise/program.h"

namespace kernelskill::analysis::raise {

struct FusionLimits {
    StoreLimits stores;
    InlineLimits inlining;
};

/// Leaves out what is dead, pulls common values into writers, computes maps where they are read,
/// fuses maps into the writers of what they read, merges passes over the same elements, and orders
/// the steps so that buffers live shortly.
[[nodiscard]] Program fused(Program program, const FusionLimits& limits = {});

} // namespace kernelskill::analysis::raise
