/// The lines of a kernel with what was found out about each, for reports.
#pragma once

#include "engine/workbench/workbench.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/report/html/report.h"

#include <vector>

namespace kernelskill::lsp {

/// A table for each file that the kernel's lines are in: the time of warps where it was sampled,
/// sectors, conflicts, arithmetic, and what the diagnosis and the hazards hold against a line. Of
/// the kernel itself all lines unless there are many. Empty where no line says anything.
[[nodiscard]] std::vector<ReportBlock> lineTables(const engine::KernelReport& report,
                                                  const analysis::KernelModel& kernel,
                                                  TextLookup& texts);

} // namespace kernelskill::lsp
