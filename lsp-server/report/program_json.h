/// The JSON of `kernelskill graph --json`, see docs/graph.md.
#pragma once

#include "engine/graph/program.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace kernelskill::lsp {

/// {file, torch, schema, symbols, inputs, outputs, weights, sample_inputs, nodes, limitations}
[[nodiscard]] nlohmann::json programJson(const engine::graph::Program& program,
                                         const std::string& file);

/// "float32[7, 64]", "int: s77", or "other" for a value that is neither tensor nor integer.
[[nodiscard]] std::string valueText(const engine::graph::Program& program, const std::string& name);

/// Returns the bytes of all parameters, buffers and constants by their shapes, with data or
/// without.
[[nodiscard]] std::uint64_t weightBytes(const engine::graph::Program& program);

} // namespace kernelskill::lsp
