/// The report on a generated model.
#pragma once

#include "engine/diagnosis/gpus.h"
#include "engine/workbench/model_generation.h"
#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// Reports what became of each node of the graph, the kernels with their places under the roofline
/// of `gpu` (by their work and bytes; nothing was timed), what was simplified, what was measured to
/// choose between kernels and libraries, and how the kernels were checked. `archive`: the name of
/// the program's file.
[[nodiscard]] Report modelReport(const engine::GeneratedModel& model, const std::string& archive,
                                 const engine::Gpu& gpu);

} // namespace kernelskill::lsp
