/// Describes programs and generated models as text, for people and as keys of times and verdicts.
#pragma once

#include "engine/graph/model/model_files.h"
#include "engine/graph/program.h"

#include <set>
#include <string>

namespace kernelskill::engine::graph {

/// Returns a hash of the texts that are compiled of a model; nothing in them names its folder.
[[nodiscard]] std::string codeOf(const ModelFiles& files);

/// Lists the nodes with their arguments, and the types of values.
[[nodiscard]] std::string callsOf(const Program& program);
/// Adds to callsOf() all else that the variants of a part are planned by, the data of constants
/// aside.
[[nodiscard]] std::string planningOf(const Program& part,
                                     const std::set<std::string>& libraryNodes);
/// Names the first of the nodes with the types of its tensors, and says how many more there are:
/// "aten.mm.default of float32[64, 32], float32[32, 16] and 1 more".
[[nodiscard]] std::string operationOf(const Program& program, const std::set<std::string>& nodes);

} // namespace kernelskill::engine::graph
