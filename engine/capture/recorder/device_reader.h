/// Reads device memory beside a program, without waiting for more than it has to.
#pragma once

#include "engine/capture/recorder/driver_functions.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace kernelskill::engine::capture {

/// An allocation that an address lies in, from that address on.
struct DeviceRange {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
};

/// For one launch, in the current context. As long as it lives, calls that may not be made while a
/// stream is captured are allowed to this thread, and captures of other threads go on.
class DeviceReader {
public:
    /// nullopt where no stream can be made.
    [[nodiscard]] static std::optional<DeviceReader> make(const DriverFunctions& driver);
    DeviceReader(DeviceReader&& other) noexcept;
    DeviceReader& operator=(DeviceReader&&) = delete;
    ~DeviceReader();

    /// Whether everything in `stream` so far has ended by then. What a launch reads is ordered
    /// before it in its stream; other work, which may be waiting for this program's next step, is
    /// not waited for.
    [[nodiscard]] bool waitFor(CUstream stream, std::chrono::milliseconds time) const;

    /// Memory of the GPU, or managed, at this address.
    [[nodiscard]] std::optional<DeviceRange> rangeAt(CUdeviceptr address) const;

    /// nullopt when it cannot be read. std::bad_alloc as it comes.
    [[nodiscard]] std::optional<std::vector<std::byte>> read(const DeviceRange& range) const;

private:
    DeviceReader(const DriverFunctions& driver, CUstream stream, CUstreamCaptureMode before)
        : driver_(&driver), stream_(stream), modeBefore_(before) {}

    const DriverFunctions* driver_;
    CUstream stream_; ///< Of our own: nothing else waits for it, and it waits for nothing.
    CUstreamCaptureMode modeBefore_;
};

} // namespace kernelskill::engine::capture
