/// CUDA's runtime for programs that fake-nvcc builds: kernels are functions of the host, whose
/// threads run one after another. Barriers and shared memory do not compile. A kernel that is
/// compiled for the GPU and tried in the place of one of the program's does what that one does,
/// with its launch, and takes 10 ns a thread of its own launch, unless the environment says
/// otherwise (fakeEdited).
#pragma once

#include "fake_driver.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <utility>

#define __global__
#define __device__
#define __restrict__ __restrict

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1)
        : x(width), y(height), z(depth) {}
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;
// Device code has these in the global namespace.
using std::max;
using std::min;

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

inline void fakeStart() {
    static const bool isStarted = cuInit(0) == CUDA_SUCCESS;
    static_cast<void>(isStarted);
}
template <typename T>
void cudaMalloc(T** pointer, std::size_t bytes) {
    fakeStart();
    CUdeviceptr address = 0;
    cuMemAlloc(&address, bytes);
    *pointer = reinterpret_cast<T*>(address);
}
inline void cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (kind == cudaMemcpyHostToDevice)
        cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(to), from, bytes);
    else
        cuMemcpyDtoH(to, reinterpret_cast<CUdeviceptr>(from), bytes);
}
inline void cudaDeviceSynchronize() {}

struct FakeConfiguration {
    FakeConfiguration(dim3 blocks, dim3 threads) : grid(blocks), block(threads) {}
    dim3 grid;
    dim3 block;
};

/// What a kernel does that is tried in the place of the program's with more or fewer threads.
enum class FakeEdited {
    Same,
    Wrong,     ///< The first number of each array that it may write has another value.
    Slow,      ///< It takes 20 times as long.
    Terminates ///< It ends the server politely, and itself never. FAKE_MARK gets its process.
};
/// As FAKE_EDITED says: "SYMBOL=wrong", "=slow" or "=terminates".
inline FakeEdited fakeEdited(std::string_view symbol) {
    const char* text = std::getenv("FAKE_EDITED");
    const std::string_view given = text == nullptr ? "" : text;
    const auto at = given.find('=');
    if (at == std::string_view::npos || given.substr(0, at) != symbol)
        return FakeEdited::Same;
    const std::string_view what = given.substr(at + 1);
    return what == "wrong"  ? FakeEdited::Wrong
           : what == "slow" ? FakeEdited::Slow
                            : FakeEdited::Terminates;
}

template <auto Kernel>
struct FakeLauncher;

template <typename... Parameters, void (*Kernel)(Parameters...)>
struct FakeLauncher<Kernel> {
    static constexpr std::array<std::size_t, sizeof...(Parameters)> sizes{sizeof(Parameters)...};

    static void body(const std::byte* bytes) {
        std::size_t offset = 0;
        const auto next = [&]<typename T>(T& value) {
            const std::size_t align = std::min<std::size_t>(sizeof(T), 8);
            offset = (offset + align - 1) / align * align;
            std::memcpy(&value, bytes + offset, sizeof(T));
            offset += sizeof(T);
        };
        std::tuple<Parameters...> values;
        std::apply([&](auto&... value) { (next(value), ...); }, values);
        for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
            for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
                for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
                    for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z)
                        for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)
                            for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)
                                std::apply(Kernel, values);
        const std::uint64_t own =
            std::uint64_t{gridDim.x} * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
        const FakeEdited edited = fakeThreads() == own ? FakeEdited::Same : fakeEdited(symbol());
        if (edited == FakeEdited::Wrong)
            std::apply([&](auto... value) { (spoil(value), ...); }, values);
        if (edited == FakeEdited::Terminates)
            terminate();
        const float slower = edited == FakeEdited::Slow ? 20.0f : 1.0f;
        fakeSpend(slower * 0.01f * static_cast<float>(fakeThreads()));
    }

    template <typename T>
    static void spoil(T value) {
        using Element = std::remove_pointer_t<T>;
        if constexpr (std::is_pointer_v<T> && std::is_arithmetic_v<Element> &&
                      !std::is_const_v<Element>)
            *value = !*value;
    }
    static void terminate() {
        std::ofstream(std::getenv("FAKE_MARK")) << getpid();
        kill(getppid(), SIGTERM);
        for (;;)
            pause();
    }

    /// The program exports its symbols.
    static const char* symbol() {
        Dl_info info{};
        dladdr(reinterpret_cast<void*>(Kernel), &info);
        return info.dli_sname;
    }
    static CUfunction function() {
        static const CUfunction made = [&] {
            const CUfunction kernel = fakeKernel(symbol(), sizes.data(), sizes.size(), &body);
            fakeImageKernel(symbol(), sizes.data(), sizes.size(), &body);
            fakeLoadModule("", "", false);
            return kernel;
        }();
        return made;
    }

    void operator()(FakeConfiguration configuration, Parameters... values) const {
        fakeStart();
        gridDim = configuration.grid;
        blockDim = configuration.block;
        std::array<void*, sizeof...(Parameters)> pointers{
            const_cast<void*>(static_cast<const void*>(&values))...};
        cuLaunchKernel(function(), gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                       blockDim.z, 0, nullptr, pointers.data(), nullptr);
        cuStreamSynchronize(CU_STREAM_LEGACY);
    }
};

template <auto Kernel>
inline constexpr FakeLauncher<Kernel> fakeLaunch{};
