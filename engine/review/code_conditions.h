/// Lists the conditions of a program's device code, with the code that hangs on each.
#pragma once

#include "engine/execution/program_source.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct CodeCondition {
    analysis::Span span;
    /// Code that runs only after this outcome; nullopt if there is none, as for an `if` without
    /// `else`, or if other operands of `&&` and `||` decide as well. Behind `if (c) break;` and its
    /// like it is the rest of the block.
    std::optional<analysis::Span> whenTrue;
    std::optional<analysis::Span> whenFalse;
    /// For a label of a `switch`, whose code is `whenTrue`: see WatchedCondition.
    std::optional<analysis::Span> switched;
    /// It follows from the address in a pointer, as its alignment does, which runs do not vary.
    bool isOfAddress = false;
    /// It asks whether something equals a number other than zero, literal or named.
    bool equalsNumber = false;
    /// The numbers other than zero that it compares something with by order (`<`), as written.
    std::vector<std::string> bounds;
    bool isInConstexpr = false; ///< In a function that the compiler may run as well.
};

/// The conditions in kernels and device functions of one file of the program, with this text, that
/// depend on something that only a run knows: of branches, loops and `?:`, the operands of `&&` and
/// `||`, and the labels of `switch`. Conditions inside of macros and lambdas are left out.
[[nodiscard]] std::vector<CodeCondition>
codeConditions(const ProgramSource& program, const std::string& file, std::string_view text);

/// The conditions of the program's main file.
[[nodiscard]] std::vector<CodeCondition> codeConditions(const ProgramSource& program);

/// The parts of the same code in which conditions are not found: bodies of lambdas, code that is
/// too large or too deep to be read, and definitions of macros.
[[nodiscard]] std::vector<analysis::Span>
unreadCode(const ProgramSource& program, const std::string& file, std::string_view text);

} // namespace kernelskill::engine
