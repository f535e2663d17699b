// C = A * B, one element a thread, every operand from global memory.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void matmul(float* a, float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

int main() {
    const int n = 384;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; ++i) {
        a[i] = static_cast<float>(i % 13) - 6.0f;
        b[i] = static_cast<float>(i % 11) - 5.0f;
    }
    float *deviceA, *deviceB, *deviceC;
    cudaMalloc(&deviceA, n * n * sizeof(float));
    cudaMalloc(&deviceB, n * n * sizeof(float));
    cudaMalloc(&deviceC, n * n * sizeof(float));
    cudaMemcpy(deviceA, a.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceB, b.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(16, 16);
    dim3 grid((n + 15) / 16, (n + 15) / 16);
    matmul<<<grid, block>>>(deviceA, deviceB, deviceC, n);
    cudaMemcpy(c.data(), deviceC, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < n; row += 7)
        for (int column = 0; column < n; column += 5) {
            double expected = 0;
            for (int k = 0; k < n; ++k)
                expected += a[row * n + k] * b[k * n + column];
            wrong += std::fabs(c[row * n + column] - expected) > 1e-2;
        }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceA);
    cudaFree(deviceB);
    cudaFree(deviceC);
    return wrong != 0;
}
