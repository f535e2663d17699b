// Each thread scales the columns of its own tile of a table.
#include <cuda_runtime.h>

__global__ void scaleTiles(const float* __restrict__ table, const float* __restrict__ scales,
                           float* __restrict__ scaled, int tiles, int rows, int columns) {
    int tile = blockIdx.x * blockDim.x + threadIdx.x;
    if (tile >= tiles)
        return;
    const float* from = table + tile * rows * columns;
    float* to = scaled + tile * rows * columns;
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            int at = row * columns + column; // row by row in memory
            to[at] = from[at] * scales[column];
        }
    }
}

void launchScaleTiles(const float* table, const float* scales, float* scaled, int tiles, int rows,
                      int columns) {
    scaleTiles<<<(tiles + 127) / 128, 128>>>(table, scales, scaled, tiles, rows, columns);
}
