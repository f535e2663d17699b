/// Reads device memory for the recorder with as little waiting as possible.
#pragma once

#include "engine/capture/recorder/driver_functions.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace kernelskill::engine::capture {

/// The part of an allocation from an address to the allocation's end.
struct DeviceRange {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
};

/// Lives for one launch, in the current context. Meanwhile this thread may call functions that are
/// forbidden during stream capture, and captures of other threads continue.
class DeviceReader {
public:
    /// nullopt if no stream can be created.
    [[nodiscard]] static std::optional<DeviceReader> make(const DriverFunctions& driver);
    DeviceReader(DeviceReader&& other) noexcept;
    DeviceReader& operator=(DeviceReader&&) = delete;
    ~DeviceReader();

    /// Its own stream, independent of all others.
    [[nodiscard]] CUstream stream() const { return stream_; }

    /// Whether all work in `stream` so far ends within `time`. The inputs of a launch are ordered
    /// before it in its stream. Other work is not waited for, because it may itself wait for this
    /// program's next step.
    [[nodiscard]] bool waitFor(CUstream stream, std::chrono::milliseconds time) const;

    /// The allocation at this address, if it is memory of the GPU or managed memory.
    [[nodiscard]] std::optional<DeviceRange> rangeAt(CUdeviceptr address) const;

    /// nullopt if it cannot be read. May throw std::bad_alloc.
    [[nodiscard]] std::optional<std::vector<std::byte>> read(const DeviceRange& range) const;

private:
    DeviceReader(const DriverFunctions& driver, CUstream stream, CUstreamCaptureMode before)
        : driver_(&driver), stream_(stream), modeBefore_(before) {}

    const DriverFunctions* driver_;
    CUstream stream_;
    CUstreamCaptureMode modeBefore_;
};

} // namespace kernelskill::engine::capture
