/// The JSON that says what a generated model consists of.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>
#include <string_view>

namespace kernelskill::engine::graph {

/// The manifest's name in the model's folder, by which the folder is known as one.
constexpr std::string_view manifestName = "model.json";

/// {name, torch, inputs, outputs, weights, symbols, steps, simplifications, constant_outputs,
/// prepared_bytes, workspace_bytes}; a step
/// is a kernel with its file, schedule, nodes and tensors, or a library's node with the reason.
[[nodiscard]] std::string manifest(const ModelPlan& plan);

} // namespace kernelskill::engine::graph
