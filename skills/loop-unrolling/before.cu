// One dot product a thread: every addition waits for the one before it.
#include <cuda_runtime.h>

__global__ void rowSums(const float* matrix, float* sums, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    // Walks along the row.
    for (int k = 0; k < columns; ++k)
        sum += matrix[row * columns + k];
    sums[row] = sum;
}

void launchRowSums(const float* matrix, float* sums, int rows, int columns) {
    rowSums<<<(rows + 127) / 128, 128>>>(matrix, sums, rows, columns);
}
