/// The `.cu` file of a kernel, and the header of all launchers.
#pragma once

#include "engine/graph/model/model_plan.h"

#include <string>

namespace kernelskill::engine::graph {

/// The kernel and its launcher: `cudaError_t launch_<name>(..., cudaStream_t stream)`. The comment
/// above names the nodes of the graph.
[[nodiscard]] std::string kernelFile(const ModelPlan& plan, const Kernel& kernel);
[[nodiscard]] std::string launchersHeader(const ModelPlan& plan);
/// "launch_relu".
[[nodiscard]] std::string launcherName(const Kernel& kernel);
/// "[1024, s77]".
[[nodiscard]] std::string shapeText(const std::vector<analysis::raise::Index>& shape);

} // namespace kernelskill::engine::graph
