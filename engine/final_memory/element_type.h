/// The types of the numbers in a program's buffers, by the kernels that get them.
#pragma once

#include "engine/final_memory/final_memory.h"
#include "engine/replay/replay_wire.h"

#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Returns the type that a pointer's C++ spelling points to ("float const*", "double2*"): Bytes for
/// integers, characters and truth values; nullopt for structures and what is no pointer.
[[nodiscard]] std::optional<MemoryElement> elementOf(std::string_view pointer);

/// Returns the type that all uses of the buffer agree on, as far as their kernels' symbols tell it.
[[nodiscard]] std::optional<MemoryElement> elementOf(const std::vector<BufferUse>& uses);

} // namespace kernelskill::engine
