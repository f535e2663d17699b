// Neighbouring threads read neighbouring elements, and write elements that are a column apart.
#include <cuda_runtime.h>

__global__ void transpose(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) // the edges may be partly idle
        out[x * height + y] = in[y * width + x];
}

void launchTranspose(const float* in, float* out, int width, int height) {
    dim3 block(16, 16);
    dim3 grid((width + 15) / 16, (height + 15) / 16);
    transpose<<<grid, block>>>(in, out, width, height);
}
