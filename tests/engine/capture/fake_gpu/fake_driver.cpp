// libcuda.so.1 for tests: memory of the host, one queue for each stream. Like the driver it loads
// CUDA_INJECTION64_PATH when it starts, and runs kernels after the call that launches them.
#define __CUDA_API_VERSION_INTERNAL // for the arguments of calls
#include "fake_driver.h"

#include "engine/replay/cubin_symbols.h"
#include "tests/engine/replay/cubin_image.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <deque>
#include <dlfcn.h>
#include <elf.h>
#include <functional>
#include <generated_cuda_meta.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

struct CUmod_st {
    std::map<std::string, std::vector<std::byte>, std::less<>> variables;
    std::vector<CUfunction> functions; ///< The functions that were asked for.
};
struct CUfunc_st {
    std::string symbol;
    std::vector<std::size_t> sizes;
    void (*body)(const std::byte*) = nullptr;
    CUmodule module = nullptr;
};
struct CUevent_st {
    CUstream stream = nullptr;
    bool asked = false;
    float time = 0; ///< The clock when the stream got there.
};

namespace {

struct Gpu {
    std::recursive_mutex mutex;
    std::map<CUdeviceptr, std::unique_ptr<std::vector<std::byte>>> memory;
    std::vector<std::unique_ptr<CUfunc_st>> kernels;
    std::map<std::string, CUfunc_st, std::less<>> imageKernels;
    CUmod_st ownModule;
    CUmodule running = nullptr; ///< The module of the running kernel.
    std::uint64_t threads = 0;  ///< Those of the running kernel's launch.
    float clock = 0;            ///< Microseconds.
    CUresult lost = CUDA_SUCCESS;
    CUstream draining = nullptr;
    std::map<CUstream, std::deque<std::function<void()>>> queues;
    std::set<CUstream> blocked;
    std::atomic<bool> isEndless = false; ///< A kernel runs until the process ends.
    std::set<CUstream> capturing;
    bool invalidated = false;
    bool refusesFill = false;
    std::string unloaded; ///< The image of the program's module until it is needed.
    void (*duringLaunch)() = nullptr;
    CUcontext context = reinterpret_cast<CUcontext>(0xC0);
    std::map<void*, CUcontext> hostMemory;
    FakeListener listener;
};

/// It outlives threads that wait for ever.
Gpu& gpu() {
    static auto* const instance = new Gpu; // NOLINT
    return *instance;
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
    while (!queue.empty() && gpu().lost == CUDA_SUCCESS && !gpu().blocked.contains(stream)) {
        gpu().draining = stream;
        const auto work = std::move(queue.front());
        queue.pop_front();
        work();
    }
}

/// Called where the driver waits for kernels that run.
void waitForKernels() {
    while (gpu().isEndless)
        ::pause();
}

/// The arguments of a launch.
struct FakeLaunch {
    CUfunction function = nullptr;
    unsigned grid[3] = {1, 1, 1};
    unsigned block[3] = {1, 1, 1};
    CUstream stream = nullptr;
    void** parameters = nullptr;
    void** extra = nullptr;
};

/// A call of the driver, with CUPTI's callbacks around it.
template <typename Arguments, typename Body>
CUresult call(std::uint32_t function, const Arguments& arguments, const char* symbol,
              const Body& body) {
    CUresult result = CUDA_SUCCESS;
    std::uint64_t shared = 0xdead; // CUPTI leaves it undefined.
    const auto tell = [&](bool isExit) {
        if (gpu().listener.onCall != nullptr)
            gpu().listener.onCall(isExit, function, &arguments, symbol, &result, &shared);
    };
    tell(false);
    {
        const std::scoped_lock lock(gpu().mutex);
        result = gpu().lost != CUDA_SUCCESS ? gpu().lost : body();
    }
    tell(true);
    return result;
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
    auto memory = std::make_unique<std::vector<std::byte>>(bytes + 16);
    // Not before a multiple of 16, as in the driver's memory.
    *address = (reinterpret_cast<CUdeviceptr>(memory->data()) + 15) / 16 * 16;
    memory->resize(bytes + (*address - reinterpret_cast<CUdeviceptr>(memory->data())));
    gpu().memory[*address] = std::move(memory);
    return CUDA_SUCCESS;
}

std::size_t bytesAt(CUdeviceptr begin) {
    const auto& memory = *gpu().memory.at(begin);
    return memory.size() - (begin - reinterpret_cast<CUdeviceptr>(memory.data()));
}

CUresult release(CUdeviceptr address) {
    for (auto& [stream, queue] : gpu().queues)
        drain(stream);
    return gpu().memory.erase(address) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void* pointer(CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
}

// The helper kernels of the product (helper_kernels.h).
struct HelperParameters {
    std::uint64_t from, to, count, window;
};
void readMemory(const std::byte*) {}
void differPages(const std::byte* given) {
    HelperParameters parameters{};
    std::memcpy(&parameters, given, sizeof parameters);
    constexpr std::uint64_t wordsOfPage = 4096;
    auto* flags = static_cast<std::uint32_t*>(pointer(parameters.window));
    for (std::uint64_t i = 0; i < parameters.count; ++i) {
        if (std::memcmp(pointer(parameters.from + 16 * i), pointer(parameters.to + 16 * i), 16) !=
            0)
            flags[i / wordsOfPage] = 1;
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

/// Loads the program's module, if that has not been done.
void loadModule() {
    const std::string image = std::exchange(gpu().unloaded, {});
    if (!image.empty() && gpu().listener.onModule != nullptr)
        gpu().listener.onModule(image.data(), image.size());
}

CUresult enqueue(const FakeLaunch& launch) {
    const CUfunc_st* kernel = launch.function;
    loadModule();
    if (auto* const act = std::exchange(gpu().duringLaunch, nullptr); act != nullptr)
        act();
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
    std::uint64_t threads = 1;
    for (int axis = 0; axis < 3; ++axis)
        threads *= std::uint64_t{launch.grid[axis]} * launch.block[axis];
    gpu().queues[named(launch.stream)].push_back([kernel, threads, values = std::move(values)] {
        gpu().running = kernel->module;
        gpu().threads = threads;
        kernel->body(values.data());
    });
    return CUDA_SUCCESS;
}

} // namespace

extern "C" {

CUfunction fakeKernel(const char* symbol, const std::size_t* sizes, std::size_t count,
                      void (*body)(const std::byte*)) {
    auto kernel = std::make_unique<CUfunc_st>();
    *kernel = {symbol, {sizes, sizes + count}, body, &gpu().ownModule};
    return gpu().kernels.emplace_back(std::move(kernel)).get();
}
void fakeBlock(CUstream stream) {
    gpu().blocked.insert(stream);
}
void fakeCapture(CUstream stream, bool isCapturing) {
    if (isCapturing) {
        const cuStreamBeginCapture_v2_params arguments{stream, CU_STREAM_CAPTURE_MODE_GLOBAL};
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, arguments, nullptr, [&] {
            gpu().capturing.insert(stream);
            return CUDA_SUCCESS;
        });
    } else {
        CUgraph graph = nullptr;
        const cuStreamEndCapture_params arguments{stream, &graph};
        call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, arguments, nullptr, [&] {
            return gpu().capturing.erase(stream) == 1 ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
        });
    }
}
bool fakeIsInvalidated() {
    return gpu().invalidated;
}
void fakeListen(FakeListener listener) {
    gpu().listener = listener;
}
void fakeDuringLaunch(void (*act)()) {
    gpu().duringLaunch = act;
}
void fakeImageKernel(const char* symbol, const std::size_t* sizes, std::size_t count,
                     void (*body)(const std::byte*)) {
    gpu().imageKernels[symbol] = {symbol, {sizes, sizes + count}, body, nullptr};
}
void fakeAddVariable(const char* name, const void* value, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(value);
    gpu().ownModule.variables[name] = {begin, begin + bytes};
}
void* fakeOwnVariable(const char* name) {
    return gpu().ownModule.variables.at(name).data();
}
void fakeLoadModule(const char* calls, const char* managed, bool isLazy) {
    kernelskill::testing::CubinImage image;
    for (const auto& kernel : gpu().kernels) {
        image.kernels.push_back({kernel->symbol, {}});
        if (*calls != 0)
            image.kernels.back().calls = {calls};
    }
    for (const auto& [name, value] : gpu().ownModule.variables)
        image.variables.push_back({name, value.size(), false});
    if (*managed != 0)
        image.variables.push_back({managed, 4, true});
    gpu().unloaded = imageOf(image);
    if (!isLazy)
        loadModule();
}
void* fakeVariable(const char* name) {
    const auto found = gpu().running->variables.find(name);
    return found == gpu().running->variables.end() ? nullptr : found->second.data();
}
std::uint64_t fakeThreads() {
    return gpu().threads;
}
void fakeSpend(float microseconds) {
    gpu().clock += microseconds;
}
void fakeFault() {
    gpu().lost = CUDA_ERROR_ILLEGAL_ADDRESS;
}
void fakeHang() {
    gpu().blocked.insert(gpu().draining);
    gpu().isEndless = true;
}
void fakeRefuseFill() {
    gpu().refusesFill = true;
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
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
    return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult status, const char** name) {
    *name = status == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "an error";
    return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "of the stand-in";
    return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = gpu().context;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
    gpu().context = context;
    return CUDA_SUCCESS;
}
CUresult cuCtxDestroy_v2(CUcontext context) {
    const cuCtxDestroy_v2_params arguments{context};
    return call(CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2, arguments, nullptr, [&] {
        if (gpu().listener.onContextEnd != nullptr)
            gpu().listener.onContextEnd(context);
        std::erase_if(gpu().hostMemory, [&](const auto& each) {
            if (each.second != context)
                return false;
            std::free(each.first); // NOLINT
            return true;
        });
        return CUDA_SUCCESS;
    });
}
CUresult cuCtxSynchronize() {
    const auto isBusy = [] {
        const std::scoped_lock lock(gpu().mutex);
        for (auto& [stream, queue] : gpu().queues)
            drain(stream);
        return !gpu().blocked.empty();
    };
    while (isBusy())
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return gpu().lost;
}
CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *free = *total = std::size_t{1} << 30;
    return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    const cuMemAlloc_v2_params arguments{address, bytes};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, arguments, nullptr,
                [&] { return allocate(address, bytes); });
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
    const cuMemAllocManaged_params arguments{address, bytes, flags};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocManaged, arguments, nullptr,
                [&] { return allocate(address, bytes); });
}
CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned element) {
    const cuMemAllocPitch_v2_params arguments{address, pitch, width, height, element};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocPitch_v2, arguments, nullptr, [&] {
        *pitch = (width + 511) / 512 * 512;
        return allocate(address, *pitch * height);
    });
}
CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
    const cuMemAllocAsync_params arguments{address, bytes, stream};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync, arguments, nullptr,
                [&] { return allocate(address, bytes); });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
    waitForKernels();
    const cuMemFree_v2_params arguments{address};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, arguments, nullptr,
                [&] { return release(address); });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    const cuMemFreeAsync_params arguments{address, stream};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync, arguments, nullptr,
                [&] { return release(address); });
}
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
    const cuMemHostAlloc_params arguments{address, bytes, flags};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc, arguments, nullptr, [&] {
        *address = std::calloc(bytes, 1); // NOLINT
        gpu().hostMemory[*address] = gpu().context;
        return CUDA_SUCCESS;
    });
}
CUresult cuMemFreeHost(void* address) {
    waitForKernels();
    const cuMemFreeHost_params arguments{address};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, arguments, nullptr, [&] {
        gpu().hostMemory.erase(address);
        std::free(address); // NOLINT
        return CUDA_SUCCESS;
    });
}
/// The graph is never launched.
CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* given) {
    const cuGraphAddMemAllocNode_params arguments{node, graph, dependencies, count, given};
    return call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddMemAllocNode, arguments, nullptr,
                [] { return CUDA_SUCCESS; });
}
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    const cuMemMap_params arguments{address, bytes, offset, handle, flags};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemMap, arguments, nullptr, [] { return CUDA_SUCCESS; });
}
CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
    const std::scoped_lock lock(gpu().mutex);
    for (const auto& [begin, memory] : gpu().memory) {
        if (address >= begin && address < begin + bytesAt(begin)) {
            *base = begin;
            *bytes = bytesAt(begin);
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
    waitForKernels();
    const cuMemcpyHtoD_v2_params arguments{to, from, bytes};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, arguments, nullptr, [&] {
        for (auto& [stream, queue] : gpu().queues)
            drain(stream);
        std::memcpy(pointer(to), from, bytes);
        return CUDA_SUCCESS;
    });
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    waitForKernels();
    const cuMemcpyDtoH_v2_params arguments{to, from, bytes};
    return call(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, arguments, nullptr, [&] {
        for (auto& [stream, queue] : gpu().queues)
            drain(stream);
        std::memcpy(to, pointer(from), bytes);
        return gpu().lost;
    });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    const std::scoped_lock lock(gpu().mutex);
    gpu().queues[named(stream)].push_back([=] { std::memcpy(to, pointer(from), bytes); });
    return gpu().lost;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
    const std::scoped_lock lock(gpu().mutex);
    gpu().queues[named(stream)].push_back([=] { std::memcpy(pointer(to), from, bytes); });
    return gpu().lost;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
    return cuMemcpyHtoDAsync_v2(to, pointer(from), bytes, stream);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
    const std::scoped_lock lock(gpu().mutex);
    if (value != 0 && std::exchange(gpu().refusesFill, false))
        return CUDA_ERROR_OUT_OF_MEMORY;
    gpu().queues[named(stream)].push_back([=] { std::memset(pointer(to), value, bytes); });
    return gpu().lost;
}
CUresult cuStreamCreate(CUstream* stream, unsigned) {
    static std::uintptr_t next = 0x1000;
    const std::scoped_lock lock(gpu().mutex);
    if (const auto status = unsafe(); status != CUDA_SUCCESS)
        return status;
    *stream = reinterpret_cast<CUstream>(next += 16);
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
    waitForKernels();
    const std::scoped_lock lock(gpu().mutex);
    gpu().queues.erase(stream);
    return unsafe();
}
CUresult cuStreamSynchronize(CUstream stream) {
    waitForKernels();
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
    const std::scoped_lock lock(gpu().mutex);
    event->stream = named(stream);
    event->asked = false;
    gpu().queues[event->stream].push_back([event] { event->time = gpu().clock; });
    return gpu().lost;
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
    *milliseconds = (end->time - begin->time) / 1000;
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
    if (gpu().blocked.contains(event->stream))
        return CUDA_ERROR_NOT_READY;
    return gpu().lost;
}
CUresult cuEventDestroy_v2(CUevent event) {
    const std::scoped_lock lock(gpu().mutex);
    drain(event->stream); // Nothing of the stream may name it afterwards.
    if (gpu().lost == CUDA_SUCCESS && !gpu().blocked.contains(event->stream))
        std::unique_ptr<CUevent_st>(event).reset();
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
bool fakeHasFunction(CUfunction kernel) {
    return kernel->module != &gpu().ownModule || kernel == gpu().kernels.front().get() ||
           kernel->symbol.ends_with("-function");
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction kernel) {
    *module = kernel->module;
    return fakeHasFunction(kernel) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    loadModule();
    const auto* const given = reinterpret_cast<CUfunction>(kernel);
    auto made = std::make_unique<CUfunc_st>(*given);
    made->symbol += "-function";
    *function = made.release(); // It lives as long as the driver.
    return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction) {
    *value = 0;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
    return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    const std::scoped_lock lock(gpu().mutex);
    const auto* text = static_cast<const char*>(image);
    auto made = std::make_unique<CUmod_st>();
    std::string loaded;
    if (std::memcmp(text, "//", 2) == 0) { // PTX
        loaded = kernelskill::testing::imageOf({{{"read_memory", {}}, {"differ_pages", {}}}, {}});
    } else {
        Elf64_Ehdr header{};
        std::memcpy(&header, image, sizeof header);
        const auto symbols = kernelskill::engine::cubinSymbols(
            {static_cast<const std::byte*>(image),
             header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr)});
        if (!symbols)
            return CUDA_ERROR_INVALID_IMAGE;
        for (const auto& variable : symbols->variables)
            made->variables[variable.name].resize(variable.bytes);
        for (const auto& [kernel, calls] : symbols->kernels) {
            if (kernel == "does not load")
                return CUDA_ERROR_NO_BINARY_FOR_GPU;
        }
        loaded.assign(text, header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr));
    }
    if (gpu().listener.onModule != nullptr)
        gpu().listener.onModule(loaded.data(), loaded.size());
    *module = made.release();
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
    waitForKernels();
    const std::scoped_lock lock(gpu().mutex);
    for (auto& [stream, queue] : gpu().queues)
        drain(stream);
    if (gpu().lost != CUDA_SUCCESS)
        return gpu().lost;
    const std::unique_ptr<CUmod_st> owned(module);
    for (CUfunction function : module->functions)
        std::unique_ptr<CUfunc_st>(function).reset();
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    auto found = std::make_unique<CUfunc_st>();
    const std::vector<std::size_t> helper{8, 8, 8, 8};
    if (std::string_view(name) == "read_memory")
        *found = {name, helper, &readMemory, module};
    else if (std::string_view(name) == "differ_pages")
        *found = {name, helper, &differPages, module};
    else if (const auto known = gpu().imageKernels.find(name); known != gpu().imageKernels.end())
        *found = {name, known->second.sizes, known->second.body, module};
    else
        return CUDA_ERROR_NOT_FOUND;
    *function = module->functions.emplace_back(found.release());
    return CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                              const char* name) {
    const auto found = module->variables.find(name);
    if (found == module->variables.end())
        return CUDA_ERROR_NOT_FOUND;
    *address = reinterpret_cast<CUdeviceptr>(found->second.data());
    *bytes = found->second.size();
    return CUDA_SUCCESS;
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
    const cuLaunchKernel_params arguments{kernel, gx,     gy,     gz,         bx,   by,
                                          bz,     shared, stream, parameters, extra};
    return call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, arguments, kernel->symbol.c_str(), [&] {
        return enqueue({kernel, {gx, gy, gz}, {bx, by, bz}, stream, parameters, extra});
    });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction kernel, void** parameters,
                          void** extra) {
    const cuLaunchKernelEx_params arguments{config, kernel, parameters, extra};
    return call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, arguments, kernel->symbol.c_str(), [&] {
        return enqueue({kernel,
                        {config->gridDimX, config->gridDimY, config->gridDimZ},
                        {config->blockDimX, config->blockDimY, config->blockDimZ},
                        config->hStream,
                        parameters,
                        extra});
    });
}
}
