/// The CMakeLists.txt of a generated model.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

/// Builds `model`, a shared library with the C interface, and `model_torch`, the PyTorch operator,
/// where LibTorch is found.
[[nodiscard]] std::string buildFile(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
