// The mean of five neighbours in two dimensions, each read from global memory.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void stencil(float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    out[y * width + x] = 0.2f * (in[y * width + x] + in[y * width + x - 1] + in[y * width + x + 1] +
                                 in[(y - 1) * width + x] + in[(y + 1) * width + x]);
}

int main() {
    const int width = 2048, height = 1024;
    std::vector<float> in(width * height), out(width * height);
    for (int i = 0; i < width * height; ++i)
        in[i] = static_cast<float>(i % 19);
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, width * height * sizeof(float));
    cudaMalloc(&deviceOut, width * height * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), width * height * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(32, 8);
    dim3 grid((width + 31) / 32, (height + 7) / 8);
    stencil<<<grid, block>>>(deviceIn, deviceOut, width, height);
    cudaMemcpy(out.data(), deviceOut, width * height * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 1; y < height - 1; ++y)
        for (int x = 1; x < width - 1; ++x) {
            const float* at = &in[y * width + x];
            const float expected = 0.2f * (at[0] + at[-1] + at[1] + at[-width] + at[width]);
            wrong += std::fabs(out[y * width + x] - expected) > 1e-4f;
        }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
