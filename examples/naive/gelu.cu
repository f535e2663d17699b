// GELU by its tanh approximation, one element a thread.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void gelu(float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = in[i];
        out[i] = 0.5f * x * (1.0f + tanhf(0.7978846f * (x + 0.044715f * x * x * x)));
    }
}

int main() {
    const int n = 1 << 22;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; ++i)
        in[i] = static_cast<float>(i % 41) * 0.2f - 4.0f;
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, n * sizeof(float));
    cudaMalloc(&deviceOut, n * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    gelu<<<(n + 255) / 256, 256>>>(deviceIn, deviceOut, n);
    cudaMemcpy(out.data(), deviceOut, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
        const double x = in[i];
        const double expected = 0.5 * x * (1 + std::tanh(0.7978846 * (x + 0.044715 * x * x * x)));
        wrong += std::fabs(out[i] - expected) > 1e-4;
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
