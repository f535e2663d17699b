/// Contents of buffers in device memory before a run.
#pragma once

#include "engine/execution/gpu/runner/device.h"

#include <cstdint>

namespace kernelskill::engine::gpu {

/// Fills `bytes` bytes at `address` as fillBuffer() would, so that the GPU and the emulator run on
/// the same input: on the device where it can, else from the host. Ordered with the device's
/// stream.
[[nodiscard]] Result<void> fillDevice(Device& device, const BufferSpec& spec, std::uint64_t seed,
                                      CUdeviceptr address, std::uint64_t bytes);

} // namespace kernelskill::engine::gpu
