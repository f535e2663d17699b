// Normalises each row to mean 0 and variance 1, one thread a row, three passes over it.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void layernorm(float* in, float* out, int rows, int columns, float epsilon) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column)
        sum += in[row * columns + column];
    float mean = sum / columns;
    float squares = 0.0f;
    for (int column = 0; column < columns; ++column) {
        float difference = in[row * columns + column] - mean;
        squares += difference * difference;
    }
    float scale = 1.0f / sqrtf(squares / columns + epsilon);
    for (int column = 0; column < columns; ++column)
        out[row * columns + column] = (in[row * columns + column] - mean) * scale;
}

int main() {
    const int rows = 8192, columns = 256;
    std::vector<float> in(rows * columns), out(rows * columns);
    for (int i = 0; i < rows * columns; ++i)
        in[i] = static_cast<float>(i % 23) * 0.25f - 2.0f;
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, rows * columns * sizeof(float));
    cudaMalloc(&deviceOut, rows * columns * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    layernorm<<<(rows + 127) / 128, 128>>>(deviceIn, deviceOut, rows, columns, 1e-5f);
    cudaMemcpy(out.data(), deviceOut, rows * columns * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
        double mean = 0, variance = 0;
        for (int column = 0; column < columns; ++column)
            mean += in[row * columns + column] / columns;
        for (int column = 0; column < columns; ++column)
            variance += std::pow(in[row * columns + column] - mean, 2) / columns;
        for (int column = 0; column < columns; ++column) {
            const double expected =
                (in[row * columns + column] - mean) / std::sqrt(variance + 1e-5);
            wrong += std::fabs(out[row * columns + column] - expected) > 1e-4;
        }
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
