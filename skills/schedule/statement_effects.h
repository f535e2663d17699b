/// Effects of statements, from which it follows what is the same in every block.
#pragma once

#include "analysis/queries/code_map.h"

#include <cstdint>
#include <set>
#include <vector>

namespace kernelskill::skills {

[[nodiscard]] inline bool isSharedStorage(const analysis::Variable& variable) {
    return variable.storage == analysis::Storage::Shared ||
           variable.storage == analysis::Storage::DynamicShared;
}

/// The variables that a statement reads and changes, and its effects beside memory behind pointers.
struct StatementEffects {
    std::set<analysis::VariableId> reads;  ///< Locals and shared arrays.
    std::set<analysis::VariableId> writes; ///< Locals and shared arrays, with those it declares.
    bool writesShared = false;             ///< True also if it may write shared memory.
    std::uint8_t blockAxes = 0;            ///< The axes of blockIdx that it asks for: bit 0 is x.
    bool asksForThread = false;            ///< It asks for threadIdx.
    bool isDeclaration = false;
    bool isBarrier = false;
    bool isOpaque = false; ///< It leaves the kernel, changes global memory, or is not followed.
};

/// Returns the effects of a statement of the kernel.
[[nodiscard]] StatementEffects effectsOf(const analysis::FileModel& file,
                                         const analysis::KernelModel& kernel,
                                         const analysis::CodeMap& code, analysis::StmtId statement);

/// Returns the effects of what decides how often the bodies of a loop or a branch run: its
/// condition, the start of a loop and its step. Empty for other statements.
[[nodiscard]] StatementEffects controlEffectsOf(const analysis::FileModel& file,
                                                const analysis::KernelModel& kernel,
                                                const analysis::CodeMap& code,
                                                analysis::StmtId statement);

} // namespace kernelskill::skills
