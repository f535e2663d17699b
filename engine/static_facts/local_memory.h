/// Local-memory traffic, as far as it is known without a GPU.
#pragma once

#include "engine/execution/profile.h"
#include "engine/static_facts/static_facts.h"

#include <string>

namespace kernelskill::engine {

/// Whether the compiler keeps all per-thread data in registers, so that there is no traffic.
[[nodiscard]] bool usesNoLocalMemory(const StaticFacts& facts);

/// Adds zeros if there is no traffic; else adds nothing. The size of a stack does not tell how
/// often it is accessed, and the CPU's code of the kernel keeps other variables in memory than a
/// GPU's.
void addLocalMemory(Metrics& metrics, const StaticFacts& facts);

/// "none" or "not counted: 64 bytes of stack a thread, no spills".
[[nodiscard]] std::string describeLocalMemory(const StaticFacts& facts);

} // namespace kernelskill::engine
