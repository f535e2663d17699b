/// Traffic to local memory, as far as it is known without a GPU.
#pragma once

#include "engine/static_facts/static_facts.h"

#include <string>

namespace kernelskill::engine {

/// Whether the compiler keeps all that is a thread's own in registers, so that there is no traffic.
[[nodiscard]] bool usesNoLocalMemory(const StaticFacts& facts);

/// Adds zeros where there is no traffic. Else nothing: how often a stack is read or written is no
/// matter of its size, and the host's code of the kernel keeps other things in memory than a GPU's.
void addLocalMemory(Metrics& metrics, const StaticFacts& facts);

/// "none" or "not counted: 64 bytes of stack a thread, no spills".
[[nodiscard]] std::string describeLocalMemory(const StaticFacts& facts);

} // namespace kernelskill::engine
