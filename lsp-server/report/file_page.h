/// The profiles of a file as a report: its kernels side by side, then each by itself.
#pragma once

#include "lsp-server/report/kernel_page.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Puts the longest first; kernels without a time stay in their order at the end.
void sortByTime(std::vector<ProfiledKernel>& kernels);

/// The measured time, or the least that the roofline of the counts allows: "72.1 µs", "at least
/// 3.1 µs".
/// Empty where neither is known.
[[nodiscard]] std::string timeText(const engine::KernelReport& report);

/// Program, version and time, and the command that made the report.
[[nodiscard]] std::string reportFooter(const std::string& command);

/// A report of all kernels of a file: measured ones by their time, longest first; the others in
/// the file's order.
[[nodiscard]] Report profileReport(const Snapshot& snapshot, std::vector<ProfiledKernel> kernels,
                                   const std::string& shownName);

} // namespace kernelskill::lsp
