// Shortest path down a grid, several rows a launch.
#include <stdlib.h>
#define BLOCK_SIZE 256
#define HALO 1
#define IN_RANGE(x, lo, hi) ((x) >= (lo) && (x) <= (hi))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
int rows, cols;
int* data;
int* result;

__global__ void dynproc_kernel(int iteration, int* gpuWall, int* gpuSrc, int* gpuResults, int cols, int rows,
                               int startStep, int border) {
    __shared__ int prev[BLOCK_SIZE];
    __shared__ int result[BLOCK_SIZE];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small_block_cols = BLOCK_SIZE - iteration * HALO * 2;
    int blkX = small_block_cols * bx - border, blkXmax = blkX + BLOCK_SIZE - 1;
    int xidx = blkX + tx;
    int validXmin = (blkX < 0) ? -blkX : 0;
    int validXmax = (blkXmax > cols - 1) ? BLOCK_SIZE - 1 - (blkXmax - cols + 1) : BLOCK_SIZE - 1;
    int W = tx - 1, E = tx + 1;
    W = (W < validXmin) ? validXmin : W;
    E = (E > validXmax) ? validXmax : E;
    bool isValid = IN_RANGE(tx, validXmin, validXmax);
    if (IN_RANGE(xidx, 0, cols - 1))
        prev[tx] = gpuSrc[xidx];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK_SIZE - i - 2) && isValid) {
            computed = true;
            int shortest = MIN(prev[W], prev[tx]);
            shortest = MIN(shortest, prev[E]);
            result[tx] = shortest + gpuWall[cols * (startStep + i) + xidx];
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed)
        gpuResults[xidx] = result[tx];
}

int main(int argc, char** argv) {
    cols = argc > 1 ? atoi(argv[1]) : 1000;
    rows = argc > 2 ? atoi(argv[2]) : 100;
    int pyramid_height = 20, border = pyramid_height * HALO, small = BLOCK_SIZE - pyramid_height * HALO * 2;
    int blocks = cols / small + (cols % small == 0 ? 0 : 1);
    int *gpuWall, *gpuResult[2];
    cudaMalloc((void**)&gpuResult[0], sizeof(int) * cols);
    cudaMalloc((void**)&gpuResult[1], sizeof(int) * cols);
    cudaMalloc((void**)&gpuWall, sizeof(int) * rows * cols);
    dim3 dimBlock(BLOCK_SIZE), dimGrid(blocks);
    int src = 1, dst = 0;
    for (int t = 0; t < rows - 1; t += pyramid_height) {
        int temp = src;
        src = dst;
        dst = temp;
        dynproc_kernel<<<dimGrid, dimBlock>>>(MIN(pyramid_height, rows - t - 1), gpuWall, gpuResult[src], gpuResult[dst],
                                              cols, rows, t, border);
    }
    return 0;
}
