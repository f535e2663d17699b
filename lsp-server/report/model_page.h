/// The report on a generated model.
#pragma once

#include "engine/diagnosis/gpus.h"
#include "engine/graph/model/model_plan.h"
#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// Reports what became of each node of the graph, the kernels with their places under the roofline
/// of `gpu` (by their work and bytes; nothing was timed), and what was simplified. `archive`: the
/// name of the program's file.
[[nodiscard]] Report modelReport(const engine::graph::ModelPlan& plan, const std::string& archive,
                                 const engine::Gpu& gpu);

} // namespace kernelskill::lsp
