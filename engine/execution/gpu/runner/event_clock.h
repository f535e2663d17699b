/// Measures time on the device between two points of its stream.
#pragma once

#include "engine/execution/gpu/runner/device.h"

namespace kernelskill::engine::gpu {

class EventClock {
public:
    [[nodiscard]] static Result<EventClock> make(Device& device);
    [[nodiscard]] Result<void> start() const;
    [[nodiscard]] Result<void> stop() const;
    /// The time from start to stop. Call it after synchronising the device.
    [[nodiscard]] Result<double> microseconds() const;

private:
    explicit EventClock(Device& device) : device_(&device) {}
    Device* device_;
    CUevent begin_ = nullptr;
    CUevent end_ = nullptr;
};

} // namespace kernelskill::engine::gpu
