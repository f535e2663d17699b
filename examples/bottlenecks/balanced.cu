// balanced: about twelve operations for each byte, which is what an H200 can do of both in the same time. Neither fewer
// bytes nor fewer operations would help much alone. (A GPU with another balance says something else: try --gpu L4.)
// Fix: none is needed; less of both, by doing less.
#include <cuda_runtime.h>

constexpr int terms = 48;
__constant__ float coefficients[terms];

__global__ void evaluateSeries(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float at = x[i], value = 0.0f;
#pragma unroll
    for (int k = 0; k < terms; ++k)
        value = value * at + coefficients[k];
    y[i] = value;
}

int main() {
    const int n = 1 << 18;
    float host[terms];
    for (int k = 0; k < terms; ++k)
        host[k] = 1.0f / (k + 1);
    cudaMemcpyToSymbol(coefficients, host, sizeof(host));
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    evaluateSeries<<<n / 256, 256>>>(x, y, n);
    cudaDeviceSynchronize();
}
