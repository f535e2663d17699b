#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/failures.h"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/Sleep.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

class CudaGraph final : public CapturedWork {
public:
    void replay() override { graph_.replay(); }
    at::cuda::CUDAGraph& graph() { return graph_; }

private:
    at::cuda::CUDAGraph graph_;
};

/// Forgets the error of a capture that failed; the next check of any launch would report it.
void forgetLastError() {
    static_cast<void>(cudaGetLastError());
}

} // namespace

c10::Stream newStream(c10::Device device) {
    if (!device.is_cuda())
        return defaultStream(device);
    return c10::cuda::getStreamFromPool(false, device.index()).unwrap();
}

c10::Stream defaultStream(c10::Device device) {
    if (!device.is_cuda())
        return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
    return c10::cuda::getDefaultCUDAStream(device.index()).unwrap();
}

void* handleOf(const c10::Stream& stream) {
    return stream.device().is_cuda() ? c10::cuda::CUDAStream(stream).stream() : nullptr;
}

c10::Stream streamOf(void* handle, c10::Device device) {
    if (!device.is_cuda() || handle == nullptr)
        return defaultStream(device);
    const auto current = c10::cuda::getCurrentCUDAStream(device.index());
    if (current.stream() == handle)
        return current.unwrap();
    return c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(handle), device.index())
        .unwrap();
}

void synchronize(const c10::Stream& stream) {
    if (stream.device().is_cuda())
        c10::cuda::CUDAStream(stream).synchronize();
}

void synchronizeDevice(c10::Device device) {
    if (!device.is_cuda())
        return;
    const c10::cuda::CUDAGuard guard(device);
    c10::cuda::device_synchronize();
}

void delay(c10::Device device) {
    constexpr std::int64_t cycles = 5'000'000; // 3 ms at 1.7 GHz
    if (device.is_cuda())
        at::cuda::sleep(cycles);
}

void releaseCachedMemory() {
    c10::cuda::CUDACachingAllocator::emptyCache();
}

Result<std::unique_ptr<CapturedWork>>
capture(c10::Device device, const std::function<Result<void>(const c10::Stream&)>& work) {
    if (!device.is_cuda())
        return std::unexpected(Error{ErrorKind::Unsupported, "a CPU has no CUDA graphs", {}, {}});
    auto captured = std::make_unique<CudaGraph>();
    synchronizeDevice(device);
    const auto stream = c10::cuda::getStreamFromPool(false, device.index());
    const c10::cuda::CUDAStreamGuard guard(stream);
    const std::string what = "the launches cannot be captured";
    auto begun = withoutExceptions(what, "", [&]() -> Result<void> {
        captured->graph().capture_begin();
        return {};
    });
    if (!begun) {
        forgetLastError();
        return std::unexpected(begun.error());
    }
    auto done = withoutExceptions(what, "", [&] { return work(stream.unwrap()); });
    const auto ended = withoutExceptions(what, "", [&]() -> Result<void> {
        captured->graph().capture_end();
        return {};
    });
    if (done)
        done = ended;
    if (!done) {
        forgetLastError();
        return std::unexpected(done.error());
    }
    return captured;
}

} // namespace kernelskill::engine::graph
