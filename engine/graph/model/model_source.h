/// The C++ of a generated model: its class, and the C interface by which programs load it.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

[[nodiscard]] std::string modelHeader(const ModelPlan& plan);
[[nodiscard]] std::string modelSource(const ModelPlan& plan);
/// The header of the C interface; the same for all models.
[[nodiscard]] std::string abiHeader();
[[nodiscard]] std::string abiSource(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
