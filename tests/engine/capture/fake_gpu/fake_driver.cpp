// libcuda.so.1 for tests: memory of the host, one queue for each stream. Like the driver it loads
// CUDA_INJECTION64_PATH when it starts, and runs kernels after the call that launches them.
#include "fake_driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

struct CUfunc_st {
    std::string symbol;
    std::vector<std::size_t> sizes;
    void (*body)(const std::byte*) = nullptr;
};
struct CUevent_st {
    std::deque<std::function<void()>>* queue = nullptr;
    CUstream stream = nullptr;
    bool asked = false;
};

namespace {

struct Gpu {
    std::recursive_mutex mutex;
    std::map<CUdeviceptr, std::unique_ptr<std::vector<std::byte>>> memory;
    std::vector<std::unique_ptr<CUfunc_st>> kernels;
    std::map<CUstream, std::deque<std::function<void()>>> queues;
    std::set<CUstream> blocked;
    std::set<CUstream> capturing;
    bool invalidated = false;
    FakeCallback callback = nullptr;
};

Gpu& gpu() {
    static Gpu instance;
    return instance;
}

thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/// Used by calls that the documentation calls unsafe during a capture.
CUresult unsafe() {
    if (gpu().capturing.empty() || mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    gpu().invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUstream named(CUstream stream) {
    return stream == nullptr ? CU_STREAM_LEGACY : stream;
}

void drain(CUstream stream) {
    auto& queue = gpu().queues[stream];
    while (!queue.empty()) {
        queue.front()();
        queue.pop_front();
    }
}

std::size_t offsetOf(const CUfunc_st& kernel, std::size_t index) {
    std::size_t offset = 0;
    for (std::size_t i = 0;; ++i) {
        const std::size_t align = std::min<std::size_t>(kernel.sizes[i], 8);
        offset = (offset + align - 1) / align * align;
        if (i == index)
            return offset;
        offset += kernel.sizes[i];
    }
}

CUresult enqueue(const FakeLaunch& launch) {
    const CUfunc_st* kernel = launch.function;
    if (launch.block[0] * launch.block[1] * launch.block[2] > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (gpu().capturing.contains(named(launch.stream)))
        return CUDA_SUCCESS; // Part of a graph that is never launched.
    std::vector<std::byte> values(4096);
    for (std::size_t i = 0; i < kernel->sizes.size(); ++i) {
        const std::size_t offset = offsetOf(*kernel, i);
        const auto* from = launch.parameters != nullptr
                               ? static_cast<const std::byte*>(launch.parameters[i])
                               : static_cast<const std::byte*>(launch.extra[1]) + offset;
        std::memcpy(values.data() + offset, from, kernel->sizes[i]);
    }
    gpu().queues[named(launch.stream)].push_back(
        [kernel, values = std::move(values)] { kernel->body(values.data()); });
    return CUDA_SUCCESS;
}

CUresult around(const FakeLaunch& launch) {
    CUresult result = CUDA_SUCCESS;
    std::uint64_t shared = 0xdead; // CUPTI leaves it undefined.
    const auto tell = [&](bool isExit) {
        if (gpu().callback != nullptr)
            gpu().callback(isExit, launch.function->symbol.c_str(), launch, &result, &shared);
    };
    tell(false);
    {
        const std::scoped_lock lock(gpu().mutex);
        result = enqueue(launch);
    }
    tell(true);
    return result;
}

} // namespace

extern "C" {

CUfunction fakeKernel(const char* symbol, const std::size_t* sizes, std::size_t count,
                      void (*body)(const std::byte*)) {
    auto kernel = std::make_unique<CUfunc_st>();
    *kernel = {symbol, {sizes, sizes + count}, body};
    return gpu().kernels.emplace_back(std::move(kernel)).get();
}
void fakeBlock(CUstream stream) {
    gpu().blocked.insert(stream);
}
void fakeCapture(CUstream stream, bool isCapturing) {
    if (isCapturing)
        gpu().capturing.insert(stream);
    else
        gpu().capturing.erase(stream);
}
bool fakeIsInvalidated() {
    return gpu().invalidated;
}
void fakeListen(FakeCallback callback) {
    gpu().callback = callback;
}

CUresult cuInit(unsigned) {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    if (path == nullptr)
        return CUDA_SUCCESS;
    if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL); library != nullptr) {
        if (auto* start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")))
            start();
    }
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
    return CUDA_SUCCESS;
}
CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
    const std::scoped_lock lock(gpu().mutex);
    auto memory = std::make_unique<std::vector<std::byte>>(bytes);
    *address = reinterpret_cast<CUdeviceptr>(memory->data());
    gpu().memory[*address] = std::move(memory);
    return CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
    const std::scoped_lock lock(gpu().mutex);
    for (const auto& [begin, memory] : gpu().memory) {
        if (address >= begin && address < begin + memory->size()) {
            *base = begin;
            *bytes = memory->size();
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
    const std::scoped_lock lock(gpu().mutex);
    for (auto& [stream, queue] : gpu().queues)
        drain(stream);
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    const std::scoped_lock lock(gpu().mutex);
    gpu().queues[named(stream)].push_back(
        [=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
    return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
    static std::uintptr_t next = 0x1000;
    const std::scoped_lock lock(gpu().mutex);
    if (const auto status = unsafe(); status != CUDA_SUCCESS)
        return status;
    *stream = reinterpret_cast<CUstream>(next += 16);
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
    const std::scoped_lock lock(gpu().mutex);
    gpu().queues.erase(stream);
    return unsafe();
}
CUresult cuStreamSynchronize(CUstream stream) {
    const std::scoped_lock lock(gpu().mutex);
    drain(named(stream));
    return unsafe();
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    const std::scoped_lock lock(gpu().mutex);
    *status = gpu().capturing.contains(named(stream)) ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                      : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned) {
    *event = std::make_unique<CUevent_st>().release();
    return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    event->stream = named(stream);
    return CUDA_SUCCESS;
}
/// The work in front of an event is not over when one first asks.
CUresult cuEventQuery(CUevent event) {
    const std::scoped_lock lock(gpu().mutex);
    if (const auto status = unsafe(); status != CUDA_SUCCESS)
        return status;
    if (gpu().blocked.contains(event->stream) || !std::exchange(event->asked, true))
        return CUDA_ERROR_NOT_READY;
    drain(event->stream);
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
    const std::unique_ptr<CUevent_st> owned(event);
    return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* other) {
    std::swap(mode, *other);
    return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction kernel, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
    if (index >= kernel->sizes.size())
        return CUDA_ERROR_INVALID_VALUE;
    *offset = offsetOf(*kernel, index);
    *bytes = kernel->sizes[index];
    return CUDA_SUCCESS;
}
/// Every other kernel of a program is known by a handle of the newer kind.
CUresult cuFuncGetModule(CUmodule* module, CUfunction kernel) {
    *module = nullptr;
    return kernel == gpu().kernels.front().get() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
    auto* const function = reinterpret_cast<CUfunction>(kernel);
    if (function == gpu().kernels.front().get())
        return CUDA_ERROR_INVALID_HANDLE;
    return cuFuncGetParamInfo(function, index, offset, bytes);
}
CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream,
                        void** parameters, void** extra) {
    return around({kernel, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra, nullptr});
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction kernel, void** parameters,
                          void** extra) {
    return around({kernel,
                   {config->gridDimX, config->gridDimY, config->gridDimZ},
                   {config->blockDimX, config->blockDimY, config->blockDimZ},
                   config->sharedMemBytes,
                   config->hStream,
                   parameters,
                   extra,
                   config});
}
}
