// The sum of the elements of each block.
#include <cuda_runtime.h>

__global__ void blockSums(const float* in, float* sums, int n, unsigned int blocks) {
    // Each warp does the work of a block of 256 threads, 32 at a time.
    const unsigned int warp = threadIdx.x / 32;
    const unsigned int block = blockIdx.x * 8 + warp;
    if (block >= blocks)
        return;
    __shared__ float partial[8][256];
    #pragma unroll
    for (unsigned int part = 0; part < 8; ++part) {
        const unsigned int thread = threadIdx.x % 32 + part * 32;
        int t = thread;
        int i = block * 256U + t;
        partial[warp][t] = i < n ? in[i] : 0.0f;
    }
    __syncwarp();
    #pragma unroll
    for (int s = 256U / 2; s > 0; s /= 2) {
        #pragma unroll
        for (unsigned int part = 0; part < 8; ++part) {
            const unsigned int thread = threadIdx.x % 32 + part * 32;
            int t = thread;
            if (t < s)
                partial[warp][t] += partial[warp][t + s];
        }
        __syncwarp();
    }
    #pragma unroll
    for (unsigned int part = 0; part < 8; ++part) {
        const unsigned int thread = threadIdx.x % 32 + part * 32;
        int t = thread;
        if (t == 0)
            sums[block] = partial[warp][0];
    }
}

void launchSums(const float* in, float* sums, int n) {
    blockSums<<<((n + 255) / 256 + 7) / 8, 256>>>(in, sums, n, (n + 255) / 256);
}
