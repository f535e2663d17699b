// uninitialized-read: the halo at both ends of the tile is read, but only its middle was written.
#include <cuda_runtime.h>

constexpr int blockSize = 128;

__global__ void averageOfThree(const float* in, float* out, int n) {
    __shared__ float tile[blockSize + 2];
    int i = blockIdx.x * blockSize + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3;
}

__global__ void averageOfThreeRight(const float* in, float* out, int n) {
    __shared__ float tile[blockSize + 2];
    int i = blockIdx.x * blockSize + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? in[i] : 0.0f;
    if (threadIdx.x == 0)
        tile[0] = i > 0 ? in[i - 1] : 0.0f;
    if (threadIdx.x == blockSize - 1)
        tile[blockSize + 1] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = (tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2]) / 3;
}

int main() {
    const int n = 10000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    averageOfThree<<<(n + blockSize - 1) / blockSize, blockSize>>>(in, out, n);
    averageOfThreeRight<<<(n + blockSize - 1) / blockSize, blockSize>>>(in, out, n);
    cudaDeviceSynchronize();
}
