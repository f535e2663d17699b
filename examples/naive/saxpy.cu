// y = a*x + y, one element a thread, four bytes at a time.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void saxpy(int n, float a, float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

int main() {
    const int n = 1 << 22;
    std::vector<float> x(n), y(n), result(n);
    for (int i = 0; i < n; ++i) {
        x[i] = static_cast<float>(i % 17) - 8.0f;
        y[i] = static_cast<float>(i % 5);
    }
    float *deviceX, *deviceY;
    cudaMalloc(&deviceX, n * sizeof(float));
    cudaMalloc(&deviceY, n * sizeof(float));
    cudaMemcpy(deviceX, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceY, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.5f, deviceX, deviceY);
    cudaMemcpy(result.data(), deviceY, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        wrong += std::fabs(result[i] - (2.5f * x[i] + y[i])) > 1e-5f;
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceX);
    cudaFree(deviceY);
    return wrong != 0;
}
