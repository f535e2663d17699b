/// Streams of a GPU, and what else needs CUDA's runtime. On a CPU there is one stream, on which
/// everything is done when the call returns. device_streams_cuda.cpp is built where LibTorch has
/// CUDA, else device_streams_cpu.cpp.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/aten.h"

#include <c10/core/Stream.h>
#include <functional>
#include <memory>

namespace kernelskill::engine::graph {

/// A stream that does not wait for the default one.
[[nodiscard]] c10::Stream newStream(c10::Device device);
[[nodiscard]] c10::Stream defaultStream(c10::Device device);

/// The stream's handle in CUDA's runtime; null for the default stream and on a CPU.
[[nodiscard]] void* handleOf(const c10::Stream& stream);
/// The stream that CUDA's runtime calls so.
[[nodiscard]] c10::Stream streamOf(void* handle, c10::Device device);

void synchronize(const c10::Stream& stream);
void synchronizeDevice(c10::Device device);

/// Keeps the current stream of the device busy for some milliseconds; does nothing on a CPU.
void delay(c10::Device device);

/// Gives memory that LibTorch keeps for later back to the device.
void releaseCachedMemory();

/// Work that a CUDA graph holds.
class CapturedWork {
public:
    virtual ~CapturedWork() = default;
    CapturedWork() = default;
    CapturedWork(const CapturedWork&) = delete;
    CapturedWork& operator=(const CapturedWork&) = delete;

    /// Launches it on the current stream.
    virtual void replay() = 0;
};

/// Captures what `work` launches on the current stream, which is a new one. Failed, with the
/// reason, if something of it cannot be captured; Unsupported on a CPU.
[[nodiscard]] Result<std::unique_ptr<CapturedWork>>
capture(c10::Device device, const std::function<Result<void>(const c10::Stream&)>& work);

} // namespace kernelskill::engine::graph
