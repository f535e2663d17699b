/// The report on a generated model.
#pragma once

#include "engine/diagnosis/gpus.h"
#include "engine/graph/check/model_check.h"
#include "engine/graph/model/model_plan.h"
#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// Reports what became of each node of the graph, the kernels with their places under the roofline
/// of `gpu` (by their work and bytes; nothing was timed), what was simplified, and how the kernels
/// were checked. `archive`: the name of the program's file.
[[nodiscard]] Report modelReport(const engine::graph::ModelPlan& plan,
                                 const engine::graph::ModelCheck& check, const std::string& archive,
                                 const engine::Gpu& gpu);

} // namespace kernelskill::lsp
