// synchronization: every thread of the grid adds its value to one sum; the additions take turns.
// Fix: sum up within the warp by shuffles, then within the block in shared memory, and add once a block.
#include <cuda_runtime.h>

__global__ void sumOfSquares(const float* in, float* sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, in[i] * in[i]);
}

int main() {
    const int n = 1 << 18;
    float *in, *sum;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(sum, 0, sizeof(float));
    sumOfSquares<<<n / 256, 256>>>(in, sum, n);
    cudaDeviceSynchronize();
}
