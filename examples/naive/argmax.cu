// The column of the largest value in each row, one thread a row.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void argmax(float* in, int* best, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int found = 0;
    float largest = in[row * columns];
    for (int column = 1; column < columns; ++column) {
        float value = in[row * columns + column];
        if (value > largest) {
            largest = value;
            found = column;
        }
    }
    best[row] = found;
}

int main() {
    const int rows = 8192, columns = 256;
    std::vector<float> in(rows * columns);
    std::vector<int> best(rows);
    for (int i = 0; i < rows * columns; ++i)
        in[i] = static_cast<float>(i * 61LL % 997);
    float* deviceIn;
    int* deviceBest;
    cudaMalloc(&deviceIn, rows * columns * sizeof(float));
    cudaMalloc(&deviceBest, rows * sizeof(int));
    cudaMemcpy(deviceIn, in.data(), rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    argmax<<<(rows + 127) / 128, 128>>>(deviceIn, deviceBest, rows, columns);
    cudaMemcpy(best.data(), deviceBest, rows * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
        int expected = 0;
        for (int column = 1; column < columns; ++column)
            if (in[row * columns + column] > in[row * columns + expected])
                expected = column;
        wrong += best[row] != expected;
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceBest);
    return wrong != 0;
}
