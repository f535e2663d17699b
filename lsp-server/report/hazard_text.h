/// Names of hazards, and which of them are warnings: none that a guess may have caused.
#pragma once

#include "engine/execution/profile.h"

#include <string>

namespace kernelskill::lsp {

/// Whether the made-up launch, or made-up contents, may be why the hazard was seen.
[[nodiscard]] bool mayBeTheGuess(const engine::Hazard& hazard, const engine::LaunchSpec& launch);

/// Whether it is an error to show: certain, on a launch that the program makes.
[[nodiscard]] bool isSureOf(const engine::Hazard& hazard, const engine::LaunchSpec& launch);

/// "race", "race suspected" or "race (may be the guess)"
[[nodiscard]] std::string hazardName(const engine::Hazard& hazard,
                                     const engine::LaunchSpec& launch);

} // namespace kernelskill::lsp
