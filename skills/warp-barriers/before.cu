// Paths of least cost through tiles of 16 columns, row by row.
#include <cuda_runtime.h>

__global__ void leastCosts(const int* costs, int* best, int rows) {
    __shared__ int row[16];
    const int t = threadIdx.x;
    row[t] = costs[blockIdx.x * 16 + t];
    __syncthreads();
    for (int r = 1; r < rows; ++r) {
        const int left = t > 0 ? row[t - 1] : row[t];
        const int least = left < row[t] ? left : row[t];
        __syncthreads();
        row[t] = least + costs[(r * gridDim.x + blockIdx.x) * 16 + t];
        __syncthreads();
    }
    best[blockIdx.x * 16 + t] = row[t];
}

void launchLeastCosts(const int* costs, int* best, int rows, int tiles) {
    leastCosts<<<tiles, 16>>>(costs, best, rows);
}
