// y = A * x, one thread a row: neighbouring lanes read addresses that are a row apart.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void matvec(float* a, float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column)
        sum += a[row * columns + column] * x[column];
    y[row] = sum;
}

int main() {
    const int rows = 8192, columns = 512;
    std::vector<float> a(rows * columns), x(columns), y(rows);
    for (int i = 0; i < rows * columns; ++i)
        a[i] = static_cast<float>(i % 9) - 4.0f;
    for (int i = 0; i < columns; ++i)
        x[i] = static_cast<float>(i % 5) - 2.0f;
    float *deviceA, *deviceX, *deviceY;
    cudaMalloc(&deviceA, rows * columns * sizeof(float));
    cudaMalloc(&deviceX, columns * sizeof(float));
    cudaMalloc(&deviceY, rows * sizeof(float));
    cudaMemcpy(deviceA, a.data(), rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceX, x.data(), columns * sizeof(float), cudaMemcpyHostToDevice);
    matvec<<<(rows + 127) / 128, 128>>>(deviceA, deviceX, deviceY, rows, columns);
    cudaMemcpy(y.data(), deviceY, rows * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
        double expected = 0;
        for (int column = 0; column < columns; ++column)
            expected += a[row * columns + column] * x[column];
        wrong += std::fabs(y[row] - expected) > 1e-2;
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceA);
    cudaFree(deviceX);
    cudaFree(deviceY);
    return wrong != 0;
}
