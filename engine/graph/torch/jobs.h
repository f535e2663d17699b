/// Answers the requests to kernelskill-torch.
#pragma once

#include "engine/graph/reference/torch_wire.h"

namespace kernelskill::engine::graph {

/// Throws nothing: what fails is a TorchFailure.
[[nodiscard]] TorchAnswer answer(const TorchRequest& request);

} // namespace kernelskill::engine::graph
