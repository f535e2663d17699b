/// Numbers in memory whose type is known by MemoryElement, and how far they are apart.
#pragma once

#include "engine/replay/replay_wire.h"

#include <cstddef>
#include <span>

namespace kernelskill::engine {

/// Returns the size of a number in bytes. Bytes are looked at as float32.
[[nodiscard]] std::size_t numberSize(MemoryElement element);

[[nodiscard]] double numberAt(MemoryElement element, const std::byte* at);

/// Returns the root mean square of the finite numbers; 0 if there are none.
[[nodiscard]] double scaleOf(MemoryElement element, std::span<const std::byte> numbers);

/// Returns |one - other| by the largest of both and `scale`; 0 for two that are no numbers, and
/// infinity if one of them is not finite.
[[nodiscard]] double relativeDifference(double one, double other, double scale);

} // namespace kernelskill::engine
