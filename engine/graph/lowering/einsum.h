/// Sums of products of any number of tensors by an equation of letters.
#pragma once

#include "engine/graph/lowering/lowering.h"

namespace kernelskill::engine::graph {

/// aten.einsum.default.
[[nodiscard]] Results einsum(Lowering& in);

} // namespace kernelskill::engine::graph
