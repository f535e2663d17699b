/// Translates the few PTX instructions that have a plain C++ equivalent, and names any other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// A C++ statement with the effect of an asm template, with operands as `%0`, `%1`, …; nullopt if
/// there is none. The statement is empty if the template has no effect on a CPU (a prefetch, a wait
/// for copies that are already done).
[[nodiscard]] std::optional<std::string> hostEquivalent(std::string_view ptx);

/// The template's first instruction, for the refusal: "mma.sync.aligned.m16n8k16…".
[[nodiscard]] std::string firstInstruction(std::string_view ptx);

} // namespace kernelskill::engine
