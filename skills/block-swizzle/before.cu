// A product whose right-hand matrix may be larger than the L2 cache.
#include <cuda_runtime.h>

#define TILE 32

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int depth) {
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < depth; first += TILE) {
        // Tiles that reach over an edge are filled with zeros.
        int across = first + threadIdx.x, down = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && across < depth ? a[row * depth + across] : 0.0f;
        right[threadIdx.y][threadIdx.x] = down < depth && column < n ? b[down * n + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

void launchMultiply(const float* a, const float* b, float* c, int m, int n, int depth) {
    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<grid, block>>>(a, b, c, m, n, depth);
}
