// Softmax of each row, one thread a row: neighbouring lanes are a whole row apart.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void rowSoftmax(float* in, float* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float largest = in[row * columns];
    for (int column = 1; column < columns; ++column)
        largest = fmaxf(largest, in[row * columns + column]);
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column)
        sum += expf(in[row * columns + column] - largest);
    for (int column = 0; column < columns; ++column)
        out[row * columns + column] = expf(in[row * columns + column] - largest) / sum;
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
    rowSoftmax<<<(rows + 127) / 128, 128>>>(deviceIn, deviceOut, rows, columns);
    cudaMemcpy(out.data(), deviceOut, rows * columns * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
        double largest = in[row * columns], sum = 0;
        for (int column = 0; column < columns; ++column)
            largest = std::fmax(largest, in[row * columns + column]);
        for (int column = 0; column < columns; ++column)
            sum += std::exp(in[row * columns + column] - largest);
        for (int column = 0; column < columns; ++column) {
            const double expected = std::exp(in[row * columns + column] - largest) / sum;
            wrong += std::fabs(out[row * columns + column] - expected) > 1e-5;
        }
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
