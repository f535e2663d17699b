/// Finds where floating-point values decide: how often a loop runs, or what an integer is.
#pragma once

#include "analysis/queries/code_map.h"

namespace kernelskill::skills {

/// Returns a loop that a comparison of floating-point values ends: in its condition, or in front of
/// a `break` or `return`, itself or by a variable that is set in the loop by such a comparison.
/// noId if there is none.
[[nodiscard]] analysis::StmtId loopThatFloatsEnd(const analysis::CodeMap& code);

/// Returns a floating-point value, not a literal, that becomes an integer: by a cast, an
/// assignment, an initialiser or a function that rounds. noId if there is none.
[[nodiscard]] analysis::ExprId floatMadeInteger(const analysis::CodeMap& code);

} // namespace kernelskill::skills
