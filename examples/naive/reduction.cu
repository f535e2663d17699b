// Sums each block's elements with a tree in shared memory; the host adds the blocks.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void blockSum(float* in, float* sums, int n) {
    __shared__ float partial[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = partial[0];
}

int main() {
    const int n = 1 << 22;
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    std::vector<float> in(n), sums(blocks);
    double expected = 0;
    for (int i = 0; i < n; ++i) {
        in[i] = static_cast<float>(i % 7) - 3.0f;
        expected += in[i];
    }
    float *deviceIn, *deviceSums;
    cudaMalloc(&deviceIn, n * sizeof(float));
    cudaMalloc(&deviceSums, blocks * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    blockSum<<<blocks, threads>>>(deviceIn, deviceSums, n);
    cudaMemcpy(sums.data(), deviceSums, blocks * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0;
    for (float each : sums)
        sum += each;
    std::printf("%g, expected %g\n", sum, expected);
    cudaFree(deviceIn);
    cudaFree(deviceSums);
    return std::fabs(sum - expected) > 1e-3;
}
