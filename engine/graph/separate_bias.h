/// The bias of convolutions as an addition of its own, which other kernels can take over.
#pragma once

#include "engine/graph/program.h"

namespace kernelskill::engine::graph {

/// The same program, in which each convolution with a bias is one without, with the same name, and
/// an addition behind it. Libraries add a bias in a pass of its own, too.
[[nodiscard]] Program withSeparateBias(Program program);

} // namespace kernelskill::engine::graph
