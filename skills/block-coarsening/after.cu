// The sum of the elements of each block.
#include <cuda_runtime.h>

__global__ void blockSums(const float* in, float* sums, int n, unsigned int blocks) {
    __shared__ float partial[4][256];
    int t = threadIdx.x;
    #pragma unroll
    for (unsigned int part = 0; part < 4; ++part) {
        const unsigned int block = blockIdx.x * 4 + part;
        int i = block * blockDim.x + t;
        partial[part][t] = i < n ? in[i] : 0.0f;
    }
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        #pragma unroll
        for (unsigned int part = 0; part < 4; ++part) {
            if (t < s)
                partial[part][t] += partial[part][t + s];
        }
        __syncthreads();
    }
    #pragma unroll
    for (unsigned int part = 0; part < 4; ++part) {
        const unsigned int block = blockIdx.x * 4 + part;
        if (block >= blocks)
            continue;
        if (t == 0)
            sums[block] = partial[part][0];
    }
}

void launchSums(const float* in, float* sums, int n) {
    blockSums<<<((n + 255) / 256 + 3) / 4, 256>>>(in, sums, n, (n + 255) / 256);
}
