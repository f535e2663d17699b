/// Answers the requests to kernelskill-torch.
#pragma once

#include "engine/graph/reference/torch_wire.h"

namespace kernelskill::engine::graph {

/// Throws nothing: what fails is an Error among the answers.
[[nodiscard]] TorchAnswer answer(const TorchRequest& request);

} // namespace kernelskill::engine::graph
