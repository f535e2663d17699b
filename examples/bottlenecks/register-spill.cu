// register-spill: each thread keeps 64 sums, but the launch bounds ask for 8 blocks of 256 threads on a multiprocessor,
// which leaves 32 registers a thread. The compiler keeps the other sums in local memory, and the inner loop goes there
// for them. (Only the GPU's compiler knows: without a CUDA toolkit this file is merely compute.)
// Fix: drop the 8, or split the powers between two launches.
#include <cuda_runtime.h>

constexpr int powers = 64;

__global__ void __launch_bounds__(256, 8) momentSums(const float* values, float* sums, int n) {
    float sum[powers] = {};
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    for (int i = first; i < n; i += threads) {
        float value = values[i], power = value;
#pragma unroll
        for (int k = 0; k < powers; ++k) {
            sum[k] += power;
            power *= value;
        }
    }
#pragma unroll
    for (int k = 0; k < powers; ++k)
        sums[k * threads + first] = sum[k];
}

int main() {
    const int n = 1 << 20, blocks = 264, threads = blocks * 256;
    float *values, *sums;
    cudaMalloc(&values, n * sizeof(float));
    cudaMalloc(&sums, powers * threads * sizeof(float));
    momentSums<<<blocks, 256>>>(values, sums, n);
    cudaDeviceSynchronize();
}
