#include <cuda_runtime.h>

__global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = factor * x[i];
}

__global__ void addBias(float* values, const float* bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] = values[i] + bias[i];
}

void run(const float* x, const float* bias, float* y, int n) {
    scale<<<(n + 255) / 256, 256>>>(x, y, 0.5f, n);
    addBias<<<(n + 255) / 256, 256>>>(y, bias, n);
}

int main() {
    const int n = 10000;
    float *x, *bias, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&bias, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    run(x, bias, y, n);
    cudaDeviceSynchronize();
}
