// Prefix sums of each block's elements, by doubling steps in shared memory.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void blockScan(float* in, float* out, int n) {
    __shared__ float partial[256];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        float before = tid >= offset ? partial[tid - offset] : 0.0f;
        __syncthreads();
        partial[tid] += before;
        __syncthreads();
    }
    if (i < n)
        out[i] = partial[tid];
}

int main() {
    const int n = 1 << 20;
    const int threads = 256;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; ++i)
        in[i] = static_cast<float>(i % 7) - 3.0f;
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, n * sizeof(float));
    cudaMalloc(&deviceOut, n * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    blockScan<<<(n + threads - 1) / threads, threads>>>(deviceIn, deviceOut, n);
    cudaMemcpy(out.data(), deviceOut, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        sum = i % threads == 0 ? in[i] : sum + in[i];
        wrong += std::fabs(out[i] - sum) > 1e-3f;
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
