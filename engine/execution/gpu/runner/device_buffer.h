/// A buffer in device memory between pages that fault.
#pragma once

#include "engine/execution/gpu/runner/cuda_driver.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kernelskill::engine::gpu {

/// It ends with its last mapped page, or less than `alignment` bytes before, and has unmapped
/// address space on both sides: a kernel that overruns its end faults. The other mapped bytes hold
/// a pattern, so that writes to them are detected.
class DeviceBuffer {
public:
    static constexpr std::uint64_t alignment = 256; // The minimum alignment of cudaMalloc.

    /// It begins `shift` bytes, fewer than `alignment`, behind a multiple of that. Failed if the
    /// device has not enough memory.
    [[nodiscard]] static Result<std::unique_ptr<DeviceBuffer>>
    create(const CudaDriver& driver, CUdevice device, std::uint64_t bytes, std::uint64_t shift = 0);

    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer();

    [[nodiscard]] CUdeviceptr address() const { return address_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

    /// Writes the pattern around the buffer.
    [[nodiscard]] Result<void> paintSurroundings() const;
    /// The offsets, from the buffer's begin, of bytes outside it that were written; negative before
    /// it.
    [[nodiscard]] Result<std::vector<std::int64_t>> writesOutside() const;

private:
    DeviceBuffer(const CudaDriver& driver, std::uint64_t bytes) : driver_(driver), bytes_(bytes) {}

    [[nodiscard]] std::uint64_t mappedEnd() const { return mapped_ + mappedBytes_; }

    const CudaDriver& driver_;
    std::uint64_t bytes_;
    CUdeviceptr reserved_ = 0;
    std::uint64_t reservedBytes_ = 0;
    CUdeviceptr mapped_ = 0;
    std::uint64_t mappedBytes_ = 0;
    CUdeviceptr address_ = 0;
};

} // namespace kernelskill::engine::gpu
