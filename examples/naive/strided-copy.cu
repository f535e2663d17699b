// Takes every eighth element: a warp's loads are spread over eight times the sectors that it needs.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void stridedCopy(float* in, float* out, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i * stride];
}

int main() {
    const int n = 1 << 21;
    const int stride = 8;
    std::vector<float> in(n * stride), out(n);
    for (int i = 0; i < n * stride; ++i)
        in[i] = static_cast<float>(i % 1021);
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, n * stride * sizeof(float));
    cudaMalloc(&deviceOut, n * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), n * stride * sizeof(float), cudaMemcpyHostToDevice);
    stridedCopy<<<(n + 255) / 256, 256>>>(deviceIn, deviceOut, n, stride);
    cudaMemcpy(out.data(), deviceOut, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        wrong += out[i] != in[i * stride];
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
