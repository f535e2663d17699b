/// Lists the conditions of a program's device code, with the code that hangs on each.
#pragma once

#include "engine/execution/program_source.h"

#include <optional>
#include <vector>

namespace kernelskill::engine {

struct CodeCondition {
    analysis::Span span;
    /// Code that runs only after this outcome; nullopt if there is none, as for an `if` without
    /// `else`, or if other operands of `&&` and `||` decide as well.
    std::optional<analysis::Span> whenTrue;
    std::optional<analysis::Span> whenFalse;
    /// It belongs to the condition of a loop, which is false at its end; that says nothing.
    bool isOfLoop = false;
    /// It follows from the address in a pointer, as its alignment does, which runs do not vary.
    bool isOfAddress = false;
};

/// The conditions in kernels and device functions of the program's main file that depend on
/// something that only a run knows: of branches, loops and `?:`, and the operands of `&&` and `||`.
/// Code from macros and constexpr functions are left out. At most maxWatched.
[[nodiscard]] std::vector<CodeCondition> codeConditions(const ProgramSource& program);

} // namespace kernelskill::engine
