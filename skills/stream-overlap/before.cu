// Two statistics of the same table, a few blocks each: most of the GPU is idle, twice.
#include <cuda_runtime.h>

__global__ void columnSums(const float* table, float* sums, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row)
        sum += table[row * 4096 + column];
    sums[column] = sum;
}

__global__ void columnMaxima(const float* table, float* maxima, int rows) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float maximum = table[column];
    for (int row = 1; row < rows; ++row)
        maximum = fmaxf(maximum, table[row * 4096 + column]);
    maxima[column] = maximum;
}

void summarise(const float* __restrict__ table, float* __restrict__ sums,
               float* __restrict__ maxima, int rows) {
    columnSums<<<32, 128>>>(table, sums, rows);
    columnMaxima<<<32, 128>>>(table, maxima, rows); // of 4096 columns
}
