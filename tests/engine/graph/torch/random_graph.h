/// Random PyTorch programs of a few operators on small tensors.
#pragma once

#include "engine/graph/program.h"

#include <cstdint>

namespace kernelskill::engine::graph::testing {

/// A program of `nodes` operators at most, each of which fits what it reads: chains with branches,
/// of maps, reductions, normalisations, products, convolutions, pools and views. The same seed
/// gives the same program. Extents are numbers; no value is far from 1 for inputs near 1.
[[nodiscard]] Program randomGraph(std::uint64_t seed, int nodes);

/// The program's nodes with their arguments and shapes, a line each.
[[nodiscard]] std::string textOf(const Program& program);

} // namespace kernelskill::engine::graph::testing
