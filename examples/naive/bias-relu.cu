// Adds a bias to each column and cuts off below zero, in place.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void biasRelu(float* values, float* bias, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) {
        float sum = values[i] + bias[i % columns];
        values[i] = sum > 0.0f ? sum : 0.0f;
    }
}

int main() {
    const int rows = 4096, columns = 1024;
    std::vector<float> values(rows * columns), bias(columns), result(rows * columns);
    for (int i = 0; i < rows * columns; ++i)
        values[i] = static_cast<float>(i % 31) - 15.0f;
    for (int i = 0; i < columns; ++i)
        bias[i] = static_cast<float>(i % 7) - 3.0f;
    float *deviceValues, *deviceBias;
    cudaMalloc(&deviceValues, rows * columns * sizeof(float));
    cudaMalloc(&deviceBias, columns * sizeof(float));
    cudaMemcpy(deviceValues, values.data(), rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceBias, bias.data(), columns * sizeof(float), cudaMemcpyHostToDevice);
    biasRelu<<<(rows * columns + 255) / 256, 256>>>(deviceValues, deviceBias, rows, columns);
    cudaMemcpy(result.data(), deviceValues, rows * columns * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < rows * columns; ++i)
        wrong += result[i] != std::fmax(values[i] + bias[i % columns], 0.0f);
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceValues);
    cudaFree(deviceBias);
    return wrong != 0;
}
