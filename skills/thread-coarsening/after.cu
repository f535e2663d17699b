// Each thread loads a row of a and a column of b for itself.
#include <cuda_runtime.h>

constexpr int depth = 32;

__global__ void multiply(const float* a, const float* b, float* c, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (row + 3 < rows && column < columns) {
        float sum0 = 0.0f;
        float sum1 = 0.0f;
        float sum2 = 0.0f;
        float sum3 = 0.0f;
        for (int k = 0; k < depth; ++k) {
            sum0 += a[row * depth + k] * b[k * columns + column];
            sum1 += a[(row + 1) * depth + k] * b[k * columns + column];
            sum2 += a[(row + 2) * depth + k] * b[k * columns + column];
            sum3 += a[(row + 3) * depth + k] * b[k * columns + column];
        }
        c[row * columns + column] = sum0;
        c[(row + 1) * columns + column] = sum1;
        c[(row + 2) * columns + column] = sum2;
        c[(row + 3) * columns + column] = sum3;
    } else {
        for (int rowEach = row; rowEach < row + 4; ++rowEach) {
            if (rowEach < rows && column < columns) {
                float sum = 0.0f;
                for (int k = 0; k < depth; ++k)
                    sum += a[rowEach * depth + k] * b[k * columns + column]; // of two loads
                c[rowEach * columns + column] = sum;
            }
        }
    }
}

void launchMultiply(const float* a, const float* b, float* c, int rows, int columns) {
    dim3 block(32, 8);
    dim3 grid((columns + 31) / 32, (rows + 7) / 8);
    multiply<<<dim3(grid.x, (grid.y + 3) / 4, grid.z), block>>>(a, b, c, rows, columns);
}
