/// The arguments of a node as an operator's schema wants them.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/torch/aten.h"
#include "engine/graph/torch/values.h"

namespace kernelskill::engine::graph {

/// One value for each parameter of the schema, in its order: the node's argument of that name,
/// else the schema's default. Devices become that of the place, and so do element types if the node
/// has an argument that is a tensor. Unsupported if the node has an argument that the schema lacks,
/// or that does not fit the parameter; InvalidInput if a parameter has no argument or an argument
/// no value.
[[nodiscard]] Result<torch::jit::Stack> stackFor(const Node& node,
                                                 const c10::FunctionSchema& schema,
                                                 const Values& values, const Place& place);

} // namespace kernelskill::engine::graph
