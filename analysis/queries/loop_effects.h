/// Expressions that a loop leaves as they are, and calls that change nothing.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"

#include <cstdint>

namespace kernelskill::analysis {

/// Whether an expression may read memory that nobody writes while a kernel runs.
enum class FixedMemory : std::uint8_t {
    None,
    ReadOnly, ///< What parameters lead to that are `const` and `__restrict__`.
};

/// Whether the expression is a parameter, never changed, that is `const` and `__restrict__`: nobody
/// writes what it leads to while the kernel runs.
[[nodiscard]] bool isReadOnlyPointer(const CodeMap& code, ExprId expr);

/// Made of constants, indices and variables that the loop's body does not change, the statement
/// `advance` in it excepted, and of memory as `memory` says.
[[nodiscard]] bool isFixed(const CodeMap& code, const Loop& loop, ExprId expr,
                           StmtId advance = noId, FixedMemory memory = FixedMemory::None);
/// As isFixed(), for what the loop's own declarations do not decide either.
[[nodiscard]] bool isFixedOutside(const CodeMap& code, const Loop& loop, ExprId expr,
                                  StmtId advance = noId);

/// True if each round that the loop begins evaluates `expr`.
[[nodiscard]] bool isInEveryRound(const CodeMap& code, const Loop& loop, ExprId expr);

/// True if evaluating `expr` once more changes nothing: it assigns nothing and calls nothing.
[[nodiscard]] bool hasNoEffect(const CodeMap& code, ExprId expr);

/// Arithmetic, atomics that the model lists, loads past the cache, and device functions that
/// change nothing.
[[nodiscard]] bool isKnownCall(const FileModel& file, const KernelModel& kernel, const Expr& call);

} // namespace kernelskill::analysis
