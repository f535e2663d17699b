/// Contractions with few results and a long depth, as two steps.
#pragma once

#include "analysis/raise/program.h"
#include "engine/graph/kernels/contraction_schedule.h"

namespace kernelskill::engine::graph {

/// The program in which a contraction whose blocks would leave multiprocessors idle is divided
/// along its depth: its parts are one more axis of blocks, whose sums a second step adds up and
/// stores. Sums are added up in another order.
[[nodiscard]] analysis::raise::Program withSplitContractions(analysis::raise::Program program,
                                                             const KernelOptions& options);

} // namespace kernelskill::engine::graph
