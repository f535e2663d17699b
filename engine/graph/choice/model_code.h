/// What programs and generated models consist of, as text: keys for times and verdicts.
#pragma once

#include "engine/graph/model/model_files.h"
#include "engine/graph/program.h"

#include <string>

namespace kernelskill::engine::graph {

/// A hash of the texts that are compiled of a model, without anything that names its folder.
[[nodiscard]] std::string codeOf(const ModelFiles& files);

/// The nodes with their arguments: what libraries compute.
[[nodiscard]] std::string callsOf(const Program& program);

} // namespace kernelskill::engine::graph
