// launch-overhead: a thousand launches, each of which has a few hundred nanoseconds of work; the GPU mostly waits for the
// next one.
// Fix: do many steps in one launch (a cooperative launch with grid barriers), or record the loop into a CUDA graph.
#include <cuda_runtime.h>
#include <utility>

__global__ void heatStep(const float* from, float* to, float rate, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        to[i] = from[i] + rate * (from[i - 1] - 2.0f * from[i] + from[i + 1]);
}

int main() {
    const int n = 1 << 16;
    float *now, *next;
    cudaMalloc(&now, n * sizeof(float));
    cudaMalloc(&next, n * sizeof(float));
    for (int step = 0; step < 1000; ++step) {
        heatStep<<<n / 256, 256>>>(now, next, 0.1f, n);
        std::swap(now, next);
    }
    cudaDeviceSynchronize();
}
