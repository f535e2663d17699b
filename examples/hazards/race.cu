// race: without a barrier a thread may read its neighbour's element before it is written.
#include <cuda_runtime.h>

constexpr int blockSize = 256;

__global__ void reverseBlocks(const float* in, float* out) {
    __shared__ float tile[blockSize];
    tile[threadIdx.x] = in[blockIdx.x * blockSize + threadIdx.x];
    out[blockIdx.x * blockSize + threadIdx.x] = tile[blockSize - 1 - threadIdx.x];
}

__global__ void reverseBlocksRight(const float* in, float* out) {
    __shared__ float tile[blockSize];
    tile[threadIdx.x] = in[blockIdx.x * blockSize + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockSize + threadIdx.x] = tile[blockSize - 1 - threadIdx.x];
}

int main() {
    const int n = 64 * blockSize;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    reverseBlocks<<<n / blockSize, blockSize>>>(in, out);
    reverseBlocksRight<<<n / blockSize, blockSize>>>(in, out);
    cudaDeviceSynchronize();
}
