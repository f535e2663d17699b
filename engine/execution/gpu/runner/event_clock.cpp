#include "engine/execution/gpu/runner/event_clock.h"

namespace kernelskill::engine::gpu {
namespace {

const char* explanation(CUresult status) {
    switch (status) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
        return "the kernel touched memory outside its buffers";
    case CUDA_ERROR_MISALIGNED_ADDRESS:
        return "the kernel accessed memory at an address that is no multiple of the access's size";
    case CUDA_ERROR_ASSERT:
        return "an assert() of the kernel failed";
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        return "the kernel reached a trap or an instruction that the GPU does not have";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return "the kernel ran longer than the driver allows on this GPU";
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
        return "the kernel's stack overflowed";
    case CUDA_ERROR_LAUNCH_FAILED:
        return "the kernel failed, by a trap or an invalid access to shared or local memory";
    default:
        return "the kernel failed";
    }
}

} // namespace

Result<void> synchronise(const CudaDriver& driver, bool& isFatal) {
    const auto status = driver.cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        return {};
    isFatal = isFatal || isSticky(status);
    auto error = driver.failure(explanation(status), status);
    error.remedy = "profile it on the emulator, which names thread and line";
    return std::unexpected(std::move(error));
}

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
