/// The C interface of a generated model, by which programs load it.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

/// The interface's header; the same for all models with symbols, and for all without.
[[nodiscard]] std::string abiHeader(const ModelPlan& plan);
[[nodiscard]] std::string abiSource(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
