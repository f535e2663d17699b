// Prefix sums of each block's elements, by doubling steps: two barriers a step.
#include <cuda_runtime.h>

__global__ void blockScan(const float* in, float* out, int n) {
    __shared__ float partial[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        float before = tid >= stride ? partial[tid - stride] : 0.0f;
        __syncthreads();
        partial[tid] += before;
        __syncthreads();
    }
    if (i < n)
        out[i] = partial[tid];
}

void launchBlockScan(const float* in, float* out, int n) {
    blockScan<<<(n + 255) / 256, 256>>>(in, out, n);
}
