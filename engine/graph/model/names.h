/// Names in the text of a generated model.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// `text` as an identifier of C++ that is no keyword.
[[nodiscard]] std::string identifier(std::string_view text);

/// Gives each buffer a name that no keyword, function of CUDA, symbol or other buffer has.
void renameBuffers(analysis::raise::Program& program, const std::vector<std::string>& symbols = {});

/// Gives each computation a name of its own, by which its kernel is called.
void renameComputations(analysis::raise::Program& program);

} // namespace kernelskill::engine::graph
