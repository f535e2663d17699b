#include "engine/graph/torch/device_streams.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace kernelskill::engine::graph {

c10::Stream newStream(c10::Device device) {
    return defaultStream(device);
}

c10::Stream defaultStream(c10::Device device) {
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

void* handleOf(const c10::Stream&) {
    return nullptr;
}

c10::Stream streamOf(void*, c10::Device device) {
    return defaultStream(device);
}

void synchronize(const c10::Stream&) {}

void synchronizeDevice(c10::Device) {}

void delay(c10::Device) {}

void releaseCachedMemory() {}

Result<std::unique_ptr<CapturedWork>>
capture(c10::Device, const std::function<Result<void>(const c10::Stream&)>&) {
    return std::unexpected(Error{ErrorKind::Unsupported, "a CPU has no CUDA graphs", {}, {}});
}

} // namespace kernelskill::engine::graph
