/// Weights in the order in which the kernels of contractions read them.
#pragma once

#include "analysis/raise/program.h"

namespace kernelskill::engine::graph {

/// The program with a step before each contraction whose weights lie so that tiles of them cannot
/// be loaded four neighbours at a time: it writes them in the order of the tiles. Such steps depend
/// on weights alone, so a model runs them once.
[[nodiscard]] analysis::raise::Program withPackedWeights(analysis::raise::Program program);

} // namespace kernelskill::engine::graph
