/// Work of ours on the program's GPU, in a stream of its own, while the program is held.
#pragma once

#include "engine/capture/recorder/device_reader.h"

#include <chrono>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <optional>
#include <span>

namespace kernelskill::engine::replay {

using capture::DeviceReader;
using capture::DriverFunctions;

class DeviceWork;

/// Memory of ours on the GPU.
class OwnMemory {
public:
    /// `work` outlives the memory. If its context is lost, the memory is not freed: the driver
    /// would wait.
    [[nodiscard]] static Result<OwnMemory> allocate(const DeviceWork& work, std::uint64_t bytes);
    OwnMemory(OwnMemory&& other) noexcept;
    OwnMemory& operator=(OwnMemory&& other) noexcept;
    ~OwnMemory();
    [[nodiscard]] CUdeviceptr address() const { return address_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    OwnMemory(const DeviceWork& work, CUdeviceptr address, std::uint64_t bytes)
        : work_(&work), address_(address), bytes_(bytes) {}
    const DeviceWork* work_;
    CUdeviceptr address_;
    std::uint64_t bytes_;
};

/// Waits for all work of the current context so far, at most for `limit`; returns whether it ended.
[[nodiscard]] bool awaitAllWork(const DriverFunctions& driver, std::chrono::milliseconds limit);

/// Belongs to the thread that made it and to its current context. Nothing waits without a limit.
class DeviceWork {
public:
    /// Failed if the driver refuses a stream, events or our helper kernels.
    [[nodiscard]] static Result<std::unique_ptr<DeviceWork>> make(const DriverFunctions& driver);
    DeviceWork(const DeviceWork&) = delete;
    DeviceWork& operator=(const DeviceWork&) = delete;
    ~DeviceWork();

    [[nodiscard]] const DriverFunctions& driver() const { return driver_; }
    [[nodiscard]] CUstream stream() const { return reader_.stream(); }
    [[nodiscard]] int attribute(CUdevice_attribute which) const;

    /// Waits until the stream is empty. Failed if that takes longer than `limit`, or if a kernel
    /// failed, in the user's terms.
    [[nodiscard]] Result<void> finish(std::chrono::milliseconds limit);
    /// Waits with the limit for our own copies.
    [[nodiscard]] Result<void> finish() { return finish(copyLimit); }
    /// Whether the context is lost, or a kernel does not end.
    [[nodiscard]] bool isLost() const { return isLost_; }

    /// The allocation at this address, if it is memory of the GPU or managed memory.
    [[nodiscard]] std::optional<capture::DeviceRange> rangeAt(CUdeviceptr address) const {
        return reader_.rangeAt(address);
    }

    [[nodiscard]] Result<void> startClock();
    [[nodiscard]] Result<void> stopClock();
    /// The time between the two calls; finish() has to be called before.
    [[nodiscard]] Result<double> microseconds() const;

    /// Replaces everything in the L2 cache. Asynchronous.
    [[nodiscard]] Result<void> sweepCache();

    /// Two ranges of device memory at multiples of comparedBytes.
    struct Pair {
        CUdeviceptr one = 0;
        CUdeviceptr other = 0;
        std::uint64_t bytes = 0;
    };
    /// Returns for each pair the numbers of its pages of 64 KiB that differ. A last part of less
    /// than comparedBytes is left out.
    [[nodiscard]] Result<std::vector<std::vector<std::uint64_t>>>
    differingPages(std::span<const Pair> pairs);

    static constexpr std::uint64_t pageBytes = 64 << 10;
    static constexpr std::uint64_t comparedBytes = 16; ///< A thread compares so many at once.

private:
    static constexpr std::chrono::milliseconds copyLimit{120'000};

    DeviceWork(const DriverFunctions& driver, DeviceReader reader)
        : driver_(driver), reader_(std::move(reader)) {}
    [[nodiscard]] Result<void> launchHelper(CUfunction kernel, CUdeviceptr from, CUdeviceptr to,
                                            std::uint64_t count, std::uint64_t window) const;

    const DriverFunctions& driver_;
    DeviceReader reader_;
    CUdevice device_ = 0;
    CUevent begin_ = nullptr;
    CUevent end_ = nullptr;
    CUmodule helpers_ = nullptr;
    CUfunction readMemory_ = nullptr;
    CUfunction differPages_ = nullptr;
    unsigned blocks_ = 1;
    std::optional<OwnMemory> swept_;
    std::optional<OwnMemory> flags_;
    bool isLost_ = false;
};

} // namespace kernelskill::engine::replay
