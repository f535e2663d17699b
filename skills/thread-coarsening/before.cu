// Each thread loads a row of a and a column of b for itself.
#include <cuda_runtime.h>

constexpr int depth = 32;

__global__ void multiply(const float* a, const float* b, float* c, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        float sum = 0.0f;
        for (int k = 0; k < depth; ++k)
            sum += a[row * depth + k] * b[k * columns + column]; // of two loads
        c[row * columns + column] = sum;
    }
}

void launchMultiply(const float* a, const float* b, float* c, int rows, int columns) {
    dim3 block(32, 8);
    dim3 grid((columns + 31) / 32, (rows + 7) / 8);
    multiply<<<grid, block>>>(a, b, c, rows, columns);
}
