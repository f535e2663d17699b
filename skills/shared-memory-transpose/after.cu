// Neighbouring threads read neighbouring elements, and write elements that are a column apart.
#include <cuda_runtime.h>

__global__ void transpose(const float* in, float* out, int width, int height) {
    // the edges may be partly idle
    __shared__ float tile[32][32 + 1];
    const int xBegin = blockIdx.x * 32;
    const int yBegin = blockIdx.y * 32;
    for (int step = 0; step < 32; step += 8) {
        const int x = xBegin + threadIdx.x;
        const int y = yBegin + threadIdx.y + step;
        if (x < width && y < height)
            tile[threadIdx.y + step][threadIdx.x] = in[y * width + x];
    }
    __syncthreads();
    for (int step = 0; step < 32; step += 8) {
        const int y = yBegin + threadIdx.x;
        const int x = xBegin + threadIdx.y + step;
        if (x < width && y < height)
            out[x * height + y] = tile[threadIdx.x][threadIdx.y + step];
    }
}

void launchTranspose(const float* in, float* out, int width, int height) {
    dim3 block(16, 16);
    dim3 grid((width + 15) / 16, (height + 15) / 16);
    transpose<<<dim3((grid.x + 1) / 2, (grid.y + 1) / 2, grid.z), dim3(32, 8)>>>(in, out, width, height);
}
