// barrier-divergence: half of each warp waits at a barrier that the other half never reaches.
#include <cuda_runtime.h>

constexpr int blockSize = 128;

__global__ void smooth(const float* in, float* out) {
    __shared__ float tile[blockSize];
    tile[threadIdx.x] = in[blockIdx.x * blockSize + threadIdx.x];
    if (threadIdx.x % 2 == 0)
        __syncthreads();
    float value = tile[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockSize + threadIdx.x] = 0.5f * (value + tile[blockSize - 1 - threadIdx.x]);
}

__global__ void smoothRight(const float* in, float* out) {
    __shared__ float tile[blockSize];
    tile[threadIdx.x] = in[blockIdx.x * blockSize + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockSize + threadIdx.x] =
        0.5f * (tile[threadIdx.x] + tile[blockSize - 1 - threadIdx.x]);
}

int main() {
    const int n = 64 * blockSize;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    smooth<<<n / blockSize, blockSize>>>(in, out);
    smoothRight<<<n / blockSize, blockSize>>>(in, out);
    cudaDeviceSynchronize();
}
