// Turns [batch, channel, position] into [batch, position, channel], one element a thread.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void permute(float* in, float* out, int batches, int channels, int positions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batches * channels * positions)
        return;
    int position = i % positions;
    int channel = i / positions % channels;
    int batch = i / (positions * channels);
    out[(batch * positions + position) * channels + channel] = in[i];
}

int main() {
    const int batches = 8, channels = 256, positions = 1024;
    const int n = batches * channels * positions;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; ++i)
        in[i] = static_cast<float>(i);
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, n * sizeof(float));
    cudaMalloc(&deviceOut, n * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    permute<<<(n + 255) / 256, 256>>>(deviceIn, deviceOut, batches, channels, positions);
    cudaMemcpy(out.data(), deviceOut, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int batch = 0; batch < batches; ++batch)
        for (int channel = 0; channel < channels; ++channel)
            for (int position = 0; position < positions; ++position)
                wrong += out[(batch * positions + position) * channels + channel] !=
                         in[(batch * channels + channel) * positions + position];
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
