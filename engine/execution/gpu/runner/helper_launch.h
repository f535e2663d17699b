/// Launches the helper kernels.
#pragma once

#include "engine/execution/gpu/runner/device.h"

#include <cstdint>

namespace kernelskill::engine::gpu {

/// The bytes that a thread of the helper kernels copies at once.
inline constexpr std::uint64_t copiedWordBytes = 16;

/// The runner's own memory, without guards.
class Scratch {
public:
    [[nodiscard]] static Result<Scratch> allocate(const CudaDriver& driver, std::uint64_t bytes);
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch();
    [[nodiscard]] CUdeviceptr address() const { return address_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    Scratch(const CudaDriver& driver, CUdeviceptr address, std::uint64_t bytes)
        : driver_(&driver), address_(address), bytes_(bytes) {}
    const CudaDriver* driver_;
    CUdeviceptr address_;
    std::uint64_t bytes_;
};

/// helper_kernels.h explains their use by each kernel.
struct HelperArguments {
    CUdeviceptr from = 0;
    CUdeviceptr to = 0;
    std::uint64_t count = 0;
    std::uint64_t window = ~std::uint64_t{0};
};

class Helpers {
public:
    [[nodiscard]] static Result<Helpers> load(Device& device);

    /// Launches the kernel on the device's stream, with a grid that fills the device.
    [[nodiscard]] Result<void> launch(CUfunction kernel, const HelperArguments& arguments) const;

    CUfunction readMemory = nullptr;
    CUfunction copyMemory = nullptr;
    CUfunction fuseFloat = nullptr;
    CUfunction fuseDouble = nullptr;
    CUfunction fillFloat = nullptr;
    CUfunction fillWord = nullptr;
    static constexpr unsigned threadsPerBlock = 512;
    [[nodiscard]] unsigned blocks() const { return blocks_; }

private:
    explicit Helpers(Device& device) : device_(&device) {}
    Device* device_;
    unsigned blocks_ = 0;
};

/// Reads the runner's own memory until it has replaced everything in the L2 cache; written data are
/// then in memory. Asynchronous, on the device's stream.
class CacheSweep {
public:
    [[nodiscard]] static Result<CacheSweep> prepare(Device& device);
    [[nodiscard]] Result<void> operator()() const;

private:
    CacheSweep(Helpers helpers, Scratch scratch)
        : helpers_(helpers), scratch_(std::move(scratch)) {}
    Helpers helpers_;
    Scratch scratch_;
};

} // namespace kernelskill::engine::gpu
