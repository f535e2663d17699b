/// Inline PTX: the few instructions that have a plain equivalent, and the name of any other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The C++ statement that does what an asm template does, operands as `%0`, `%1`, …; nullopt when
/// there is none. An empty statement is one that has no effect on a CPU (a prefetch, a wait for
/// copies that are already done).
[[nodiscard]] std::optional<std::string> hostEquivalent(std::string_view ptx);

/// "mma.sync.aligned.m16n8k16…": the first instruction of the template, for the refusal.
[[nodiscard]] std::string firstInstruction(std::string_view ptx);

} // namespace kernelskill::engine
