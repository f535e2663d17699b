// The model of perceptron.cpp for a GPU. KERNELSKILL_TEST_CHEAT says how it cheats; without it, it is honest.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

constexpr int inputs = 8;
constexpr int outputs = 4;
constexpr long long millisecondsOfSpin = 4'000'000; // Cycles: more than 2 ms.

std::string cheat() {
    const char* name = std::getenv("KERNELSKILL_TEST_CHEAT");
    return name != nullptr ? name : "";
}

__global__ void compute(const float* x, const float* weight, const float* bias, float* y, float* sums, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float rowSum = 0;
    for (int out = 0; out < outputs; ++out) {
        float sum = bias[out];
        for (int in = 0; in < inputs; ++in)
            sum += x[row * inputs + in] * weight[out * inputs + in];
        y[row * outputs + out] = sum < 0 ? 0 : sum;
        rowSum += y[row * outputs + out];
    }
    sums[row] = rowSum;
}

__global__ void spin(long long cycles) {
    for (const long long begin = clock64(); clock64() - begin < cycles;)
        ;
}

__global__ void writeNowhere() {
    *reinterpret_cast<volatile int*>(std::uintptr_t{1} << 20) = 1;
}

cudaStream_t ownStream() {
    static const cudaStream_t stream = [] {
        cudaStream_t made = nullptr;
        cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
        return made;
    }();
    return stream;
}

} // namespace

extern "C" {

struct KernelskillLibrary;

// Replaces the runtime's function if the loader finds it first.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 1e-3f;
    return cudaSuccess;
}

int kernelskillModelAbi() {
    return 1;
}

std::size_t kernelskillModelPreparedBytes() {
    return 0;
}

std::size_t kernelskillModelWorkspaceBytes(const std::int64_t*) {
    return 0;
}

int kernelskillModelPrepare(const void* const*, void*, void*) {
    return 0;
}

int kernelskillModelForward(const void* const* weights, const void*, const void* const* arguments, void* const* results, void*,
                            const std::int64_t* sizes, const KernelskillLibrary*, void* given) {
    const std::string how = cheat();
    auto stream = static_cast<cudaStream_t>(given);
    if (how == "illegal address") {
        writeNowhere<<<1, 1, 0, stream>>>();
        return cudaGetLastError();
    }
    if (how.rfind("own stream", 0) == 0)
        stream = ownStream();
    if (how == "default stream")
        stream = nullptr;
    const int rows = static_cast<int>(sizes[0]);
    compute<<<(rows + 63) / 64, 64, 0, stream>>>(
        static_cast<const float*>(arguments[0]), static_cast<const float*>(weights[0]), static_cast<const float*>(weights[1]),
        static_cast<float*>(results[0]), static_cast<float*>(results[1]), rows);
    if (how == "own stream, waited for" || how == "waits")
        cudaStreamSynchronize(stream);
    if (how == "spins" || how == "stops the clock")
        spin<<<1, 1, 0, stream>>>(millisecondsOfSpin);
    if (how == "spins beside")
        spin<<<1, 1, 0, ownStream()>>>(millisecondsOfSpin);
    return cudaGetLastError();
}

} // extern "C"
