/// A generated model as an operator of PyTorch.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

/// `torch.ops.<name>.forward(inputs, weights) -> outputs`, and the class
/// `torch.classes.<name>.Model(weights)` that prepares once. Nodes without kernels run through
/// ATen's dispatcher.
[[nodiscard]] std::string torchSource(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
