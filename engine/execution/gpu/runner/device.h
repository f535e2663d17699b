/// The GPU of a runner: its context, and the state that jobs share.
#pragma once

#include "engine/execution/gpu/runner/cuda_driver.h"
#include "engine/execution/gpu/runner_wire.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

namespace kernelskill::engine::gpu {

class Device {
public:
    /// The device with number `ordinal` among those in CUDA_VISIBLE_DEVICES. Missing if there is
    /// none.
    [[nodiscard]] static Result<std::unique_ptr<Device>> open(const CudaDriver& driver,
                                                              int ordinal);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() = default; // It ends with the process.

    [[nodiscard]] const CudaDriver& driver() const { return driver_; }
    [[nodiscard]] CUdevice handle() const { return device_; }
    [[nodiscard]] CUcontext context() const { return context_; }
    [[nodiscard]] CUstream stream() const { return stream_; }
    [[nodiscard]] int attribute(CUdevice_attribute which) const;
    [[nodiscard]] std::string busId() const;
    [[nodiscard]] DeviceDescription describe() const;

    /// Loads `image`, or returns the module that is loaded already. Failed if the code is for
    /// another architecture.
    [[nodiscard]] Result<CUmodule> module(const std::string& image);
    /// Unloads `image`, so that the next request loads it anew. Its functions become invalid.
    void forget(const std::string& image);

private:
    explicit Device(const CudaDriver& driver) : driver_(driver) {}

    CudaDriver driver_;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUstream stream_ = nullptr;
    std::unordered_map<std::string, CUmodule> modules_;
};

} // namespace kernelskill::engine::gpu
