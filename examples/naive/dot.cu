// The dot product of two vectors, a tree in shared memory and an atomic for each block.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void dot(float* a, float* b, float* result, int n) {
    __shared__ float partial[256];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? a[i] * b[i] : 0.0f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        atomicAdd(result, partial[0]);
}

int main() {
    const int n = 1 << 20;
    std::vector<float> a(n), b(n);
    double expected = 0;
    for (int i = 0; i < n; ++i) {
        a[i] = static_cast<float>(i % 5) - 2.0f;
        b[i] = static_cast<float>(i % 3) - 1.0f;
        expected += a[i] * b[i];
    }
    float *deviceA, *deviceB, *deviceResult, result;
    cudaMalloc(&deviceA, n * sizeof(float));
    cudaMalloc(&deviceB, n * sizeof(float));
    cudaMalloc(&deviceResult, sizeof(float));
    cudaMemcpy(deviceA, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceB, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(deviceResult, 0, sizeof(float));
    dot<<<(n + 255) / 256, 256>>>(deviceA, deviceB, deviceResult, n);
    cudaMemcpy(&result, deviceResult, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g, expected %g\n", result, expected);
    cudaFree(deviceA);
    cudaFree(deviceB);
    cudaFree(deviceResult);
    return std::fabs(result - expected) > 1.0;
}
