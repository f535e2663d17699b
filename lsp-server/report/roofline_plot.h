/// Rooflines as reports draw them.
#pragma once

#include "engine/workbench/workbench.h"
#include "lsp-server/report/html/report.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Ceilings: those that were measured on the device of the profile, else what is known of the GPU
/// that estimates are made for, by name.
[[nodiscard]] std::vector<RooflineCeiling> ceilingsOf(const engine::KernelReport& report);

/// nullopt where the kernel does no floating-point arithmetic, or none was counted: it has no
/// place on a roofline then.
[[nodiscard]] std::optional<RooflinePoint> rooflinePoint(const engine::KernelReport& report,
                                                         std::string label);

} // namespace kernelskill::lsp
