/// Reads the signature in the JSON of an archive: what a program's inputs and outputs are.
#pragma once

#include "engine/graph/json_text.h"
#include "engine/graph/program.h"

#include <vector>

namespace kernelskill::engine::graph {

/// An InputSpec; InvalidInput if its kind is not in the schema.
[[nodiscard]] Result<Input> readInput(const nlohmann::json& value, const std::string& where);

/// An OutputSpec.
[[nodiscard]] Result<Output> readOutput(const nlohmann::json& value, const std::string& where);

} // namespace kernelskill::engine::graph
