/// Functions that take so many instructions that it counts how often they are evaluated.
#pragma once

#include "analysis/syntax/syntax.h"

#include <optional>
#include <string_view>

namespace kernelskill::skills {

struct CostlyFunction {
    std::string_view name; ///< Without the suffix for float: "pow".
    std::string_view noun; ///< Of its value, for names: "power".
    double instructions = 0;
    /// nvcc moves it out of a loop by itself where each round evaluates it: its code has no
    /// branches. Under a condition nvcc moves none (nvcc 13.0, sm_90).
    bool isStraight = false;
};

/// nullopt for other expressions, and for functions of one or two instructions.
[[nodiscard]] std::optional<CostlyFunction> costlyFunction(const analysis::Expr& expr);

} // namespace kernelskill::skills
