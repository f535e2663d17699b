// uncoalesced-access: one thread a row of a row-major matrix, so neighbouring lanes read a whole row apart and each
// load of a warp takes 32 sectors where 4 would do.
// Fix: one warp (or block) a row, whose lanes read neighbours and add up by shuffles; or store the matrix transposed.
#include <cuda_runtime.h>

__global__ void rowSums(const float* matrix, float* sums, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int column = 0; column < columns; ++column)
        sum += matrix[row * columns + column];
    sums[row] = sum;
}

int main() {
    const int rows = 34000, columns = 64;
    float *matrix, *sums;
    cudaMalloc(&matrix, rows * columns * sizeof(float));
    cudaMalloc(&sums, rows * sizeof(float));
    rowSums<<<(rows + 127) / 128, 128>>>(matrix, sums, rows, columns);
    cudaDeviceSynchronize();
}
