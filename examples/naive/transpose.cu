// Transposes by a tile of shared memory whose columns all lie in one bank.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#define TILE 32

__global__ void transpose(float* in, float* out, int width, int height) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    int newX = blockIdx.y * TILE + threadIdx.x;
    int newY = blockIdx.x * TILE + threadIdx.y;
    if (newX < height && newY < width)
        out[newY * height + newX] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    const int width = 2048, height = 1024;
    std::vector<float> in(width * height), out(width * height);
    for (int i = 0; i < width * height; ++i)
        in[i] = static_cast<float>(i);
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, width * height * sizeof(float));
    cudaMalloc(&deviceOut, width * height * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), width * height * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(TILE, TILE);
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    transpose<<<grid, block>>>(deviceIn, deviceOut, width, height);
    cudaMemcpy(out.data(), deviceOut, width * height * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            wrong += out[x * height + y] != in[y * width + x];
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    return wrong != 0;
}
