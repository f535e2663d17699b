/// An optimisation as a page: its rounds as a tree, what was ruled out, the diff, the roofline.
#pragma once

#include "engine/optimization/optimization.h"
#include "lsp-server/report/html/report.h"

#include <string>

namespace kernelskill::lsp {

/// `command` replays it.
[[nodiscard]] Report optimizationReport(const engine::Optimization& found, const std::string& file,
                                        const std::string& command);

/// "2 steps, measured 1.83x on the GPU: shared-memory-padding, vectorized-access", or that nothing
/// is better, and why the search ended.
[[nodiscard]] std::string summaryOf(const engine::Optimization& found);

} // namespace kernelskill::lsp
