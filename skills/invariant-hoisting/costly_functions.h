/// Functions that take so many instructions that it counts how often they are evaluated.
#pragma once

#include "analysis/syntax/syntax.h"

#include <optional>
#include <string_view>

namespace kernelskill::skills {

struct CostlyFunction {
    std::string_view name; ///< Without the suffix for float: "pow".
    std::string_view noun; ///< The word for its value in names: "power".
    double instructions = 0;
    /// Its code has no branches, so that nvcc itself moves it out of a loop where each round
    /// evaluates it. nvcc moves no function that stands under a condition (nvcc 13.0, sm_90).
    bool isStraight = false;
};

/// Returns the function that the expression calls; nullopt if it calls none, or one of one or two
/// instructions.
[[nodiscard]] std::optional<CostlyFunction> costlyFunction(const analysis::Expr& expr);

} // namespace kernelskill::skills
