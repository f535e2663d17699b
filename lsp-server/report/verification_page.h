/// A judgement of a hand-made change as a part of a report.
#pragma once

#include "engine/verification/verification.h"
#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// Shows the judgement, the checks, counts before and after, and why a wrong kernel is wrong.
[[nodiscard]] ReportSection judgementSection(const engine::JudgedKernel& judged,
                                             const std::string& against);

} // namespace kernelskill::lsp
