/// The class of a generated model that replays its kernels as one CUDA graph.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

[[nodiscard]] std::string recordedHeader(const ModelPlan& plan);
[[nodiscard]] std::string recordedSource(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
