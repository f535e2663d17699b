/// Which statements of a kernel do the same in every block.
#pragma once

#include "analysis/queries/code_map.h"

#include <set>
#include <vector>

namespace kernelskill::skills {

/// What a statement reads and changes beside memory behind pointers.
struct StatementEffects {
    std::set<analysis::VariableId> reads;  ///< Locals and shared arrays.
    std::set<analysis::VariableId> writes; ///< The same; what it declares included.
    bool writesShared = false;             ///< Or may.
    bool readsGlobal = false;
    bool isBlocks = false;      ///< It names blockIdx.
    bool isDeclaration = false; ///< Of locals, and nothing else happens.
    bool isBarrier = false;
    bool isOpaque = false; ///< It leaves the kernel, changes global memory, or is not followed.
};

/// Of a statement of the kernel's outermost block.
[[nodiscard]] StatementEffects effectsOf(const analysis::FileModel& file,
                                         const analysis::KernelModel& kernel,
                                         const analysis::CodeMap& code, analysis::StmtId statement);

} // namespace kernelskill::skills
