// A matrix product by tiles: all threads wait for a tile, use it, and only then ask for the next.
#include <cuda_runtime.h>

constexpr int TILE = 32;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
    __shared__ float aTile[TILE][TILE];
    __shared__ float bTile[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    // Each tile is loaded into registers while the one before it is used.
    float aTileNext;
    float bTileNext;
    if (0 < n) {
        const int k = 0;
        int inner = k + threadIdx.x; // column of a
        aTileNext = row < n && inner < n ? a[row * n + inner] : 0.0f;
        bTileNext = k + threadIdx.y < n && column < n ? b[(k + threadIdx.y) * n + column] : 0.0f;
    }
    for (int k = 0; k < n; k += TILE) {
        aTile[threadIdx.y][threadIdx.x] = aTileNext;
        bTile[threadIdx.y][threadIdx.x] = bTileNext;
        __syncthreads();
        const int next = k + TILE;
        if (next < n) {
            int inner = next + threadIdx.x;
            aTileNext = row < n && inner < n ? a[row * n + inner] : 0.0f;
            bTileNext = next + threadIdx.y < n && column < n ? b[(next + threadIdx.y) * n + column] : 0.0f;
        }
        for (int i = 0; i < TILE; ++i)
            sum += aTile[threadIdx.y][i] * bTile[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

void launchMultiply(const float* a, const float* b, float* c, int n) {
    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    multiply<<<grid, block>>>(a, b, c, n);
}
