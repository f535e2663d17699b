// bank-conflicts: a warp reads down a column of a tile with 32 columns; all 32 words lie in one bank, and are served one
// after another.
// Fix: 33 columns, the last of them unused (skill shared-memory-padding).
#include <cuda_runtime.h>

__global__ void transposeTiles(const float* in, float* out, int width, int height) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    const int width = 512, height = 384;
    float *in, *out;
    cudaMalloc(&in, width * height * sizeof(float));
    cudaMalloc(&out, width * height * sizeof(float));
    transposeTiles<<<dim3(width / 32, height / 32), dim3(32, 32)>>>(in, out, width, height);
    cudaDeviceSynchronize();
}
