#include "engine/execution/gpu/runner/event_clock.h"

namespace kernelskill::engine::gpu {
Result<EventClock> EventClock::make(Device& device) {
    EventClock clock(device);
    for (CUevent* event : {&clock.begin_, &clock.end_}) {
        if (auto made = device.driver().check(
                "make an event", device.driver().cuEventCreate(event, CU_EVENT_DEFAULT));
            !made)
            return std::unexpected(made.error());
    }
    return clock;
}

Result<void> EventClock::start() const {
    return device_->driver().check("record an event",
                                   device_->driver().cuEventRecord(begin_, device_->stream()));
}

Result<void> EventClock::stop() const {
    return device_->driver().check("record an event",
                                   device_->driver().cuEventRecord(end_, device_->stream()));
}

Result<double> EventClock::microseconds() const {
    float milliseconds = 0;
    if (auto read = device_->driver().check(
            "read the events", device_->driver().cuEventElapsedTime(&milliseconds, begin_, end_));
        !read)
        return std::unexpected(read.error());
    return 1e3 * static_cast<double>(milliseconds);
}

} // namespace kernelskill::engine::gpu
