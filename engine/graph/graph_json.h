/// Reads the graph of a program: models/*.json of an archive, or serialized_exported_program.json
/// of torch 2.6 and 2.7.
///
/// Source of the format: torch/_export/serde/schema.py of PyTorch 2.6 to 2.11.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"

#include <string>
#include <string_view>

namespace kernelskill::engine::graph {

/// The program without data: its tensors are those that the signature names. It holds what
/// checkProgram() demands. InvalidInput, with `where` and the node, if the text is malformed;
/// Unsupported if its schema is of another major version than 8.
[[nodiscard]] Result<Program> readGraph(std::string_view json, const std::string& where);

} // namespace kernelskill::engine::graph
