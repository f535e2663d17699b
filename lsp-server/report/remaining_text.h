/// Describes what a search leaves to gain, for terminal and report.
#pragma once

#include "engine/optimization/optimization.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

struct RemainingLine {
    std::string label; ///< "roofline", "loss", "time", "tried", "not tried", "would take"
    std::string text;
};

/// Never empty. Labels repeat where there are several of a kind.
[[nodiscard]] std::vector<RemainingLine> remainingLines(const engine::RemainingLoss& remaining);

} // namespace kernelskill::lsp
