/// Effects of statements, from which it follows what is the same in every block.
#pragma once

#include "analysis/queries/code_map.h"

#include <set>
#include <vector>

namespace kernelskill::skills {

/// The variables that a statement reads and changes, and its effects beside memory behind pointers.
struct StatementEffects {
    std::set<analysis::VariableId> reads;  ///< Locals and shared arrays.
    std::set<analysis::VariableId> writes; ///< Locals and shared arrays, with those it declares.
    bool writesShared = false;             ///< True also if it may write shared memory.
    bool usesBlockIdx = false;
    bool isDeclaration = false;
    bool isBarrier = false;
    bool isOpaque = false; ///< It leaves the kernel, changes global memory, or is not followed.
};

/// Returns the effects of a statement of the kernel's outermost block.
[[nodiscard]] StatementEffects effectsOf(const analysis::FileModel& file,
                                         const analysis::KernelModel& kernel,
                                         const analysis::CodeMap& code, analysis::StmtId statement);

} // namespace kernelskill::skills
