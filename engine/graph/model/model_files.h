/// Makes the files of a generated model, and writes them.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <filesystem>
#include <map>
#include <string>

namespace kernelskill::engine::graph {

/// Texts by their paths below the model's folder.
using ModelFiles = std::map<std::string, std::string>;
[[nodiscard]] ModelFiles modelFiles(const ModelPlan& plan);

/// Writes the files: all of them or, on an error, none. A folder that holds other files than an
/// earlier model's is refused as InvalidInput; that of an earlier model is replaced.
[[nodiscard]] Result<void> writeModel(const ModelFiles& files, const std::filesystem::path& folder);

} // namespace kernelskill::engine::graph
