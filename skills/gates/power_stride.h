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
    analysis::ExprId start = analysis::noId; ///< Its first value.
};

/// The stride that the expression `change` halves or doubles, and nothing else writes to. With a
/// `loop` whose head sets the stride, nothing else in that loop. Else what is different, as a
/// clause about the loop: "has no stride that halves or doubles".
[[nodiscard]] std::expected<PowerStride, std::string_view>
readPowerStride(const analysis::CodeMap& code, analysis::ExprId change,
                analysis::StmtId loop = analysis::noId);

} // namespace kernelskill::skills
