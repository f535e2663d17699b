/// Frames in and out of a descriptor, on the side of a worker: blocking, whole or not at all.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace kernelskill::engine::wire {

/// False at the end of the stream or on an error.
bool readAll(int descriptor, std::span<std::byte> bytes);
/// False when nobody reads any more.
bool writeAll(int descriptor, std::span<const std::byte> bytes);
/// The payload of the next frame; nullopt at the end of the stream or for what is no frame.
[[nodiscard]] std::optional<std::vector<std::byte>> readPayload(int descriptor);

} // namespace kernelskill::engine::wire
