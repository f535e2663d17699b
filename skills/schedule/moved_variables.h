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

/// `p < end`: how a moved variable ends the loop.
struct MovedControl {
    std::size_t moved = 0;                   ///< Index into the moved variables.
    analysis::ExprId bound = analysis::noId; ///< The loop does not change it.
    std::string comparison; ///< "<", "<=", ">", ">=" or "!=", with the variable on the left.
};

/// The variables that the loop moves on, as far as nothing else changes them in it, code behind the
/// loop does not ask for them, and no macro names them. The loop's steps do not change either.
[[nodiscard]] std::vector<MovedVariable> movedVariables(const analysis::CodeMap& code,
                                                        const analysis::Loop& loop);

/// How one of `moved` ends the loop; nullopt if something else does.
[[nodiscard]] std::optional<MovedControl> controlOf(const analysis::CodeMap& code,
                                                    const analysis::Loop& loop,
                                                    const std::vector<MovedVariable>& moved);

/// Whether no run of the loop's statement, its beginning excepted, changes what `expr` is made of.
[[nodiscard]] bool isFixedInLoop(const analysis::CodeMap& code, const analysis::Loop& loop,
                                 analysis::ExprId expr);

/// What a local variable is set to where it is declared, if evaluating that at the loop and in its
/// rounds gives the same; noId if it may give something else. Writes in the loop to the variable
/// itself do not count, nor those to a variable for which `isStill` is true.
[[nodiscard]] analysis::ExprId
valueAtLoop(const analysis::CodeMap& code, const analysis::Loop& loop,
            analysis::VariableId variable,
            const std::function<bool(analysis::VariableId)>& isStill);

} // namespace kernelskill::skills
