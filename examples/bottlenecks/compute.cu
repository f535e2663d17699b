// compute: hundreds of operations for each byte; the arithmetic units decide, on any GPU.
// Fix: fewer operations, or cheaper ones: multiply-adds where x = r * x * (1 - x) is written as r * (x - x * x).
#include <cuda_runtime.h>

__global__ void iterateLogisticMap(const float* start, float* end, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = start[i];
    for (int step = 0; step < 1024; ++step)
        x = 3.7f * x * (1.0f - x);
    end[i] = x;
}

int main() {
    const int n = 1 << 16;
    float *start, *end;
    cudaMalloc(&start, n * sizeof(float));
    cudaMalloc(&end, n * sizeof(float));
    iterateLogisticMap<<<n / 256, 256>>>(start, end, n);
    cudaDeviceSynchronize();
}
