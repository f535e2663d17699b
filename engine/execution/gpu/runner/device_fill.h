/// Fills buffers in device memory before a run.
#pragma once

#include "engine/execution/gpu/runner/device.h"

#include <cstdint>

namespace kernelskill::engine::gpu {

/// Fills `bytes` bytes at `address` as fillBuffer() would, so that the GPU and the emulator have
/// the same input. Fills on the device if possible, else from the host. Ordered by the device's
/// stream.
[[nodiscard]] Result<void> fillDevice(Device& device, const BufferSpec& spec, std::uint64_t seed,
                                      CUdeviceptr address, std::uint64_t bytes);

} // namespace kernelskill::engine::gpu
