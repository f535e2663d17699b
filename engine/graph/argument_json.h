/// Arguments of nodes, inputs and outputs as the JSON of an archive describes them.
#pragma once

#include "engine/graph/json_text.h"
#include "engine/graph/program.h"

#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// An Argument: {"as_tensor": {"name": "x"}}. Kinds that the schema has and `Argument` lacks become
/// an OtherArgument; InvalidInput for kinds that are not in the schema.
[[nodiscard]] Result<Argument> readArgument(const nlohmann::json& value, const std::string& where);

} // namespace kernelskill::engine::graph
