/// The check of a generated model as text and as JSON.
#pragma once

#include "analysis/source/json.h"
#include "engine/graph/check/model_check.h"

#include <string>

namespace kernelskill::lsp {

/// "checked: 3 kernels agree with LibTorch on the emulator, with x float32[5, 8]; ..."
[[nodiscard]] std::string modelCheckText(const engine::graph::ModelCheck& check);
/// The inputs of all comparisons: "x float32[7, 8]; with x float32[2, 8]".
[[nodiscard]] std::string checkedShapesText(const engine::graph::ModelCheck& check);

/// {outcome, why, largest_error, kernels, inputs, shapes}; `inputs` are the first of `shapes`.
[[nodiscard]] nlohmann::json modelCheckJson(const engine::graph::ModelCheck& check);

} // namespace kernelskill::lsp
