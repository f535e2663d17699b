/// What tools found, as text for coding agents: short, and without colours.
#pragma once

#include "engine/optimization/optimization.h"
#include "engine/verification/verification.h"
#include "engine/workbench/kernel_report.h"
#include "lsp-server/documents/snapshot.h"

#include <nlohmann/json.hpp>

#include <string>

namespace kernelskill::lsp {

/// Of checkJson().
[[nodiscard]] std::string checkText(const nlohmann::json& check);
/// Of the entry of a kernel in checkJson(): what answers its bottleneck, and what does not fit.
[[nodiscard]] std::string planText(const nlohmann::json& kernel);
[[nodiscard]] std::string profileText(const engine::KernelReport& report);
/// Of memoryReport().
[[nodiscard]] std::string memoryText(const nlohmann::json& memory);
/// What passed and what failed; where something is wrong the cause, what was seen and what may
/// help.
[[nodiscard]] std::string verificationText(const engine::Verification& verification,
                                           const std::string& against);
[[nodiscard]] std::string verdictText(const engine::Verdict& verdict);
[[nodiscard]] std::string optimizationText(const engine::Optimization& found);

} // namespace kernelskill::lsp
