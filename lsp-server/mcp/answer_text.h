/// The answers of tools as text for coding agents: short, and without colours.
#pragma once

#include "analysis/source/json.h"
#include "engine/optimization/optimization.h"
#include "engine/verification/verification.h"
#include "engine/workbench/kernel_report.h"
#include "lsp-server/documents/snapshot.h"

#include <string>

namespace kernelskill::lsp {

/// `check`: the result of checkJson().
[[nodiscard]] std::string checkText(const nlohmann::json& check);
/// Lists what answers the bottleneck, and what does not fit. `kernel`: an entry of checkJson().
[[nodiscard]] std::string planText(const nlohmann::json& kernel);
[[nodiscard]] std::string profileText(const engine::KernelReport& report);
/// `memory`: the result of memoryReport().
[[nodiscard]] std::string memoryText(const nlohmann::json& memory);
/// Lists the checks that passed and failed; for a wrong kernel the cause, the evidence and a
/// remedy.
[[nodiscard]] std::string verificationText(const engine::Verification& verification,
                                           const std::string& against);
[[nodiscard]] std::string verdictText(const engine::Verdict& verdict);
[[nodiscard]] std::string optimizationText(const engine::Optimization& found);

} // namespace kernelskill::lsp
