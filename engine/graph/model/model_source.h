/// The class of a generated model.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

[[nodiscard]] std::string modelHeader(const ModelPlan& plan);
[[nodiscard]] std::string modelSource(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
