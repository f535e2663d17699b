/// Pointers and indices that each round of a loop moves on by the same amount.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

struct MovedVariable {
    analysis::VariableId variable = analysis::noId;
    analysis::ExprId change = analysis::noId; ///< `p++`, `offset += n`: once in each round.
    analysis::ExprId step = analysis::noId;   ///< noId: one.
    bool isDown = false;
};

/// A comparison by which a moved variable ends the loop: `p < end`.
struct MovedControl {
    std::size_t moved = 0;                   ///< Index into the moved variables.
    analysis::ExprId bound = analysis::noId; ///< The loop does not change it.
    std::string comparison; ///< "<", "<=", ">", ">=" or "!=", with the variable on the left.
};

/// Finds the variables that the loop moves on by steps that stay the same. Leaves out a variable
/// that the loop changes elsewhere too, that code behind the loop reads, or that a macro names.
[[nodiscard]] std::vector<MovedVariable> movedVariables(const analysis::CodeMap& code,
                                                        const analysis::Loop& loop);

/// Finds the variable of `moved` that ends the loop; nullopt if something else does.
[[nodiscard]] std::optional<MovedControl> controlOf(const analysis::CodeMap& code,
                                                    const analysis::Loop& loop,
                                                    const std::vector<MovedVariable>& moved);

/// Whether the loop, its init statement excepted, changes nothing that `expr` is made of.
[[nodiscard]] bool isFixedInLoop(const analysis::CodeMap& code, const analysis::Loop& loop,
                                 analysis::ExprId expr);

/// Returns the initialiser of a local variable if the loop, and each of its rounds, would evaluate
/// it to the same value; else noId. The loop's writes to the variable itself do not count, nor do
/// its writes to variables for which `isStill` is true.
[[nodiscard]] analysis::ExprId
valueAtLoop(const analysis::CodeMap& code, const analysis::Loop& loop,
            analysis::VariableId variable,
            const std::function<bool(analysis::VariableId)>& isStill);

} // namespace kernelskill::skills
