/// A profile as a report: what holds the kernel back and why, its place under the roofline, its
/// numbers, its lines.
#pragma once

#include "engine/workbench/workbench.h"
#include "lsp-server/documents/snapshot.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/report/html/report.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// A kernel of a snapshot with its profile, or why there is none.
struct ProfiledKernel {
    const analysis::KernelModel* kernel = nullptr; ///< One of the snapshot's.
    Result<engine::KernelReport> report;
};

/// "uncoalesced-access · 72.1 µs · 12 % of roofline"
[[nodiscard]] std::string kernelFinding(const engine::KernelReport& report);

/// Everything that is known of one kernel.
[[nodiscard]] ReportSection kernelSection(const Snapshot& snapshot, const ProfiledKernel& profiled,
                                          TextLookup& texts);

} // namespace kernelskill::lsp
