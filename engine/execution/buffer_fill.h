/// Fills buffers before a run. Each element depends only on the fill, the seed and its index, so
/// that any part of a buffer can be produced at any time and again.
#pragma once

#include "analysis/prelude/include/kernelskill/emulation_support.h"
#include "engine/execution/job.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kernelskill::engine {

/// The 32-bit pattern of poison. It is a NaN as float, double, half and bfloat16, and exceeds the
/// index range of any buffer.
inline constexpr std::uint32_t poisonWord = 0xFFF5FFF5u;

/// Writes the buffer's bytes from `offset` (a multiple of 16, or of the element's size) into
/// `bytes`. `seed` differs between the buffers of a launch. Writes poison where captured data
/// belongs (captured_data.h).
/// Async-signal-safe.
void fillBuffer(const BufferSpec& buffer, std::uint64_t seed, std::uint64_t offset,
                std::span<std::byte> bytes);

/// Fills an array of a class whose objects have `elementBytes` bytes. Each field is filled by its
/// type, with small integers, and with floats of [0, 1) or of the buffer's choice. Padding and
/// pointers stay as they are.
void fillFields(std::span<const KsField> fields, const BufferSpec& buffer, std::uint64_t seed,
                std::uint64_t offset, std::span<std::byte> bytes);

/// Random integers of the buffer are in [0, result).
[[nodiscard]] std::int64_t randomRange(const BufferSpec& buffer);

/// The seed of the buffer or variable of that name in a launch with the seed `seed`. It does not
/// depend on the position among the arguments, which an edit may change.
[[nodiscard]] std::uint64_t bufferSeed(std::uint64_t seed, std::string_view name);

} // namespace kernelskill::engine
