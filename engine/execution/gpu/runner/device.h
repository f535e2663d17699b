/// The GPU that a runner owns: its context, and what jobs share on it.
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
    /// The device with `ordinal` among those that CUDA_VISIBLE_DEVICES leaves. Missing when there
    /// is none.
    [[nodiscard]] static Result<std::unique_ptr<Device>> open(const CudaDriver& driver,
                                                              int ordinal);
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() = default; // the process ends with it

    [[nodiscard]] const CudaDriver& driver() const { return driver_; }
    [[nodiscard]] CUdevice handle() const { return device_; }
    [[nodiscard]] CUcontext context() const { return context_; }
    [[nodiscard]] CUstream stream() const { return stream_; }
    [[nodiscard]] int attribute(CUdevice_attribute which) const;
    [[nodiscard]] std::string busId() const;
    [[nodiscard]] DeviceDescription describe() const;

    /// Loaded modules stay, by their contents. Failed for code of another architecture.
    [[nodiscard]] Result<CUmodule> module(const std::string& image);
    /// Loads `image` anew the next time that it is asked for. Its functions are gone.
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
