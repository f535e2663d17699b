// A matrix product with 8 x 4 sums a thread: the few blocks that fit wait for each pair of tiles.
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

__device__ float4 addScaled(float scale, float4 v, float4 sum) {
    return make_float4(sum.x + scale * v.x, sum.y + scale * v.y, sum.z + scale * v.z,
                       sum.w + scale * v.w);
}

// Rows are of `quads` times four elements.
// kernelskill: launch multiply<<<{(quads+15)/16, (rows+127)/128}, {16, 16}>>>(rows=150, quads=17)
__global__ void multiply(const float4* __restrict__ a, const float4* __restrict__ b,
                         float4* __restrict__ c, int rows, int quads) {
    __shared__ float4 aTile[2][128][4]; // 128 x 16 elements
    __shared__ float4 bTile[2][16][16]; // 16 x 64 elements
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int firstRow = blockIdx.y * 128;
    const int column = blockIdx.x * 16 + tx;
    const int copyRow = ty * 4 + tx / 4;
    float4 sums[8] = {};
    // Each tile is copied into one buffer while the one before it is used in the other.
    int stage = 0;
    if (0 < quads) {
        const int k = 0;
        const int inner = k + tx % 4; // column of a
        const int upper = firstRow + copyRow;
        const int lower = upper + 64;
        __pipeline_memcpy_async(&aTile[0][copyRow][tx % 4], &a[upper * quads + inner], sizeof(float4),
            upper < rows && inner < quads ? 0 : sizeof(float4));
        __pipeline_memcpy_async(&aTile[0][copyRow + 64][tx % 4], &a[lower * quads + inner], sizeof(float4),
            lower < rows && inner < quads ? 0 : sizeof(float4));
        __pipeline_memcpy_async(&bTile[0][ty][tx], &b[(k * 4 + ty) * quads + column], sizeof(float4),
            k * 4 + ty < quads * 4 && column < quads ? 0 : sizeof(float4)); // a row of b
    }
    __pipeline_commit();
    for (int k = 0; k < quads; k += 4) {
        const int next = k + 4;
        if (next < quads) {
            const int inner = next + tx % 4;
            const int upper = firstRow + copyRow;
            const int lower = upper + 64;
            __pipeline_memcpy_async(&aTile[stage ^ 1][copyRow][tx % 4], &a[upper * quads + inner], sizeof(float4),
                upper < rows && inner < quads ? 0 : sizeof(float4));
            __pipeline_memcpy_async(&aTile[stage ^ 1][copyRow + 64][tx % 4], &a[lower * quads + inner], sizeof(float4),
                lower < rows && inner < quads ? 0 : sizeof(float4));
            __pipeline_memcpy_async(&bTile[stage ^ 1][ty][tx], &b[(next * 4 + ty) * quads + column], sizeof(float4),
                next * 4 + ty < quads * 4 && column < quads ? 0 : sizeof(float4));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int quad = 0; quad < 4; ++quad) {
            const float4 b0 = bTile[stage][quad * 4][tx];
            const float4 b1 = bTile[stage][quad * 4 + 1][tx];
            const float4 b2 = bTile[stage][quad * 4 + 2][tx];
            const float4 b3 = bTile[stage][quad * 4 + 3][tx];
#pragma unroll
            for (int row = 0; row < 8; ++row) {
                const float4 scales = aTile[stage][ty * 8 + row][quad];
                sums[row] = addScaled(scales.x, b0, sums[row]);
                sums[row] = addScaled(scales.y, b1, sums[row]);
                sums[row] = addScaled(scales.z, b2, sums[row]);
                sums[row] = addScaled(scales.w, b3, sums[row]);
            }
        }
        __syncthreads();
        stage ^= 1;
    }
#pragma unroll
    for (int row = 0; row < 8; ++row)
        if (firstRow + ty * 8 + row < rows && column < quads)
            c[(firstRow + ty * 8 + row) * quads + column] = sums[row];
}

void launchMultiply(const float4* a, const float4* b, float4* c, int rows, int quads) {
    dim3 block(16, 16);
    dim3 grid((quads + 15) / 16, (rows + 127) / 128);
    multiply<<<grid, block>>>(a, b, c, rows, quads);
}
