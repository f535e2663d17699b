// tensor-core-eligible: a matrix product, one multiply-add at a time, where tensor cores do hundreds.
// Fix: WMMA or a library (cuBLASLt), if TF32's or 16-bit precision will do; tiles in shared memory first, if not.
#include <cuda_runtime.h>

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; ++i)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

int main() {
    const int m = 256, n = 256, k = 256;
    float *a, *b, *c;
    cudaMalloc(&a, m * k * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&c, m * n * sizeof(float));
    multiply<<<dim3(n / 32, m / 8), dim3(32, 8)>>>(a, b, c, m, n, k);
    cudaDeviceSynchronize();
}
