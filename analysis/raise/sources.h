/// The names of computations that were put together, and the graph's nodes that they come from.
#pragma once

#include "analysis/raise/program.h"

namespace kernelskill::analysis::raise {

/// Adds the nodes of `other` to those of `computation`, each once.
void addSources(Computation& computation, const Computation& other);

} // namespace kernelskill::analysis::raise
