// One dot product a thread: every addition waits for the one before it.
#include <cuda_runtime.h>

__global__ void rowSums(const float* matrix, float* sums, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    // Walks along the row.
    float sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    int k = 0;
    for (; k < columns - 3; k += 4) {
        sum += matrix[row * columns + k];
        sum1 += matrix[row * columns + k + 1];
        sum2 += matrix[row * columns + k + 2];
        sum3 += matrix[row * columns + k + 3];
    }
    for (; k < columns; ++k)
        sum += matrix[row * columns + k];
    sum = (sum + sum1) + (sum2 + sum3);
    sums[row] = sum;
}

void launchRowSums(const float* matrix, float* sums, int rows, int columns) {
    rowSums<<<(rows + 127) / 128, 128>>>(matrix, sums, rows, columns);
}
