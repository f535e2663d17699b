/// The `if` statements that decide whether a statement of the host's text runs.
#pragma once

#include "engine/inputs/program_text.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelskill::engine {

enum class BranchRule : std::uint8_t {
    IfTrue,  ///< The statement runs where the condition of an `if` holds.
    IfFalse, ///< It is the else branch.
    Unknown, ///< It belongs to a loop or a switch, or the text is not understood.
};

struct BranchCondition {
    std::size_t statement = 0;                     ///< The token `if`, or `for` and the like.
    std::pair<std::size_t, std::size_t> condition; ///< Tokens between its parentheses.
    BranchRule rule = BranchRule::IfTrue;
};

/// The conditions around the statement that holds the token, innermost first, without those of
/// blocks that hold the token `place` or end there. Takes time by their number, not by the text.
[[nodiscard]] std::vector<BranchCondition> branchConditions(const ProgramText::File& file,
                                                            std::size_t token, std::size_t place);

} // namespace kernelskill::engine
