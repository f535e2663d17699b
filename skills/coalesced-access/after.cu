// A warp's lanes run down a column: each touches a sector of its own.
#include <cuda_runtime.h>

__global__ void addBias(const float* in, const float* bias, float* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) // the edges may be partly idle
        out[row * columns + column] = in[row * columns + column] + bias[column];
}

void launchAddBias(const float* in, const float* bias, float* out, int rows, int columns) {
    dim3 block(32, 8);
    dim3 grid((rows + 31) / 32, (columns + 7) / 8);
    addBias<<<grid, dim3(block.y, block.x)>>>(in, bias, out, rows, columns);
}
