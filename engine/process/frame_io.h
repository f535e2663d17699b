/// Reads and writes frames on a worker's descriptor: blocking, whole frames or nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace kernelskill::engine::wire {

/// False at the end of the stream or on an error.
bool readAll(int descriptor, std::span<std::byte> bytes);
/// False if the reader is gone.
bool writeAll(int descriptor, std::span<const std::byte> bytes);
/// The payload of the next frame; nullopt at the end of the stream or for malformed data.
[[nodiscard]] std::optional<std::vector<std::byte>> readPayload(int descriptor);

} // namespace kernelskill::engine::wire
