/// Contents of buffers before a run: a function of the fill, the seed and the element's index, so
/// that any part of a buffer can be produced at any time, and twice the same.
#pragma once

#include "analysis/prelude/include/kernelskill/emulation_support.h"
#include "engine/execution/job.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kernelskill::engine {

/// The 32-bit pattern of poison: not a number as float, double, half and bfloat16, and no index of
/// any buffer.
inline constexpr std::uint32_t poisonWord = 0xFFF5FFF5u;

/// Writes the buffer's bytes from `offset` on (a multiple of 16) into `bytes`. `seed` already tells
/// buffers of one launch apart. Captured data is elsewhere (captured_data.h): its place gets
/// poison. Async-signal-safe.
void fillBuffer(const BufferSpec& buffer, std::uint64_t seed, std::uint64_t offset,
                std::span<std::byte> bytes);

/// The same for an array of a class, each `elementBytes` long: its fields by their types, small
/// integers and floats of [0, 1). Bytes that are no field's, and pointers, stay as they are.
void fillFields(std::span<const KsField> fields, const BufferSpec& buffer, std::uint64_t seed,
                std::uint64_t offset, std::span<std::byte> bytes);

/// Random integers of the buffer are in [0, this).
[[nodiscard]] std::int64_t randomRange(const BufferSpec& buffer);

/// The seed of argument `position` of a launch.
[[nodiscard]] std::uint64_t bufferSeed(std::uint64_t seed, std::size_t position);

} // namespace kernelskill::engine
