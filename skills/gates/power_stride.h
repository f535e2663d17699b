/// Strides that halve or double from round to round, as loops of trees and scans have them.
#pragma once

#include "analysis/queries/code_map.h"

#include <cstdint>
#include <expected>
#include <string_view>

namespace kernelskill::skills {

enum class StrideChange : std::uint8_t { Halving, Doubling };

struct PowerStride {
    analysis::VariableId variable = analysis::noId;
    StrideChange change = StrideChange::Halving;
    analysis::ExprId start = analysis::noId; ///< The stride's first value.
};

/// Returns the value that the head of `loop` sets the variable to, `for (s = value; ...)`; noId if
/// it does not, or if `loop` is noId.
[[nodiscard]] analysis::ExprId valueSetByHead(const analysis::CodeMap& code, analysis::StmtId loop,
                                              analysis::VariableId variable);

/// Returns the stride that the expression `change` halves or doubles. Nothing else may write to it;
/// if the head of `loop` sets it, nothing else in that loop. The error is a clause about the loop:
/// "has no stride that halves or doubles".
[[nodiscard]] std::expected<PowerStride, std::string_view>
readPowerStride(const analysis::CodeMap& code, analysis::ExprId change,
                analysis::StmtId loop = analysis::noId);

} // namespace kernelskill::skills
