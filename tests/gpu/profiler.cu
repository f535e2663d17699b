// Kernels whose counters are read twice on a GPU: by ncu and by KernelSkill's runner. The sizes are such that data is
// several times the L2 cache, so that what DRAM moves follows from the kernel.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void copyElements(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void everyFourth(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[4 * i];
}

__global__ void transposeNaive(const float* in, float* out, int width) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    out[x * width + y] = in[y * width + x];
}

__global__ void transposeConflicts(const float* in, float* out, int width) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void transposePadded(const float* in, float* out, int width) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void stencil(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        out[y * width + x] = 0.2f * (in[y * width + x] + in[y * width + x - 1] + in[y * width + x + 1] +
                                     in[(y - 1) * width + x] + in[(y + 1) * width + x]);
}

__global__ void blockSums(const float* in, float* out, int n) {
    __shared__ float partial[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

__global__ void columnSums(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    float sum = 0;
    for (int y = 0; y < height; ++y)
        sum += in[y * width + x];
    out[x] = sum;
}

__global__ void matrixProduct(const float* a, const float* b, float* c, int n) {
    __shared__ float tileA[16][16];
    __shared__ float tileB[16][16];
    int row = blockIdx.y * 16 + threadIdx.y;
    int column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        tileA[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        tileB[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main() {
    const int n = 1 << 26;
    const int width = 8192;
    const int order = 2048;
    float *first = nullptr, *second = nullptr, *third = nullptr;
    cudaMalloc(&first, 4 * sizeof(float) * n);
    cudaMalloc(&second, sizeof(float) * n);
    cudaMalloc(&third, sizeof(float) * n);
    const dim3 tile(32, 32);
    const dim3 tiles(width / 32, width / 32);
    copyElements<<<(n + 255) / 256, 256>>>(first, second, n);
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, first, second);
    everyFourth<<<(n + 255) / 256, 256>>>(first, second, n);
    transposeNaive<<<tiles, tile>>>(first, second, width);
    transposeConflicts<<<tiles, tile>>>(first, second, width);
    transposePadded<<<tiles, tile>>>(first, second, width);
    stencil<<<dim3(width / 32, width / 8), dim3(32, 8)>>>(first, second, width, width);
    blockSums<<<(n + 255) / 256, 256>>>(first, second, n);
    columnSums<<<width / 256, 256>>>(first, second, width, width);
    matrixProduct<<<dim3(order / 16, order / 16), dim3(16, 16)>>>(first, second, third, order);
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess)
        std::printf("%s\n", cudaGetErrorString(status));
    return status == cudaSuccess ? 0 : 1;
}
