/// Comparisons of a value with the best one so far, as searches of a loop write them.
#pragma once

#include "analysis/queries/code_map.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// `value > best`, or `best < value`.
struct BestComparison {
    analysis::VariableId best = analysis::noId;
    analysis::ExprId value = analysis::noId;
    std::string comparison; ///< ">", ">=", "<" or "<=", with the value on the left.
};

/// Reads a condition that compares a value with a variable which `statement` sets; nullopt for
/// another one.
[[nodiscard]] std::optional<BestComparison> bestComparison(const analysis::CodeMap& code,
                                                           analysis::ExprId condition,
                                                           analysis::StmtId statement);

/// Whether the variable is declared around the loop, which uses it in `statements` alone.
[[nodiscard]] bool isUsedInAlone(const analysis::CodeMap& code, analysis::StmtId loop,
                                 const std::vector<analysis::StmtId>& statements,
                                 analysis::VariableId variable);

} // namespace kernelskill::skills
