/// Variables from outside of a loop that each round has for itself.
#pragma once

#include "analysis/queries/code_map.h"

namespace kernelskill::skills {

/// Whether each round of the loop sets the variable before it uses it, in a statement of the body
/// itself.
[[nodiscard]] bool isSetInEachRound(const analysis::CodeMap& code, analysis::StmtId loop,
                                    analysis::VariableId variable);

/// Whether all that uses the variable below `body` is loops that it counts, each of which sets it
/// first.
[[nodiscard]] bool countsInnerLoops(const analysis::KernelModel& kernel,
                                    const analysis::CodeMap& code, analysis::StmtId body,
                                    analysis::VariableId variable);

} // namespace kernelskill::skills
