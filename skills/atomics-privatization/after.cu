// Counts values in bins of the same width: every thread updates one table in global memory.
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char* in, unsigned int* bins, int n) {
    // Updates go to a table of the block, which is added to bins once.
    __shared__ unsigned int blockBins[64];
    for (int entry = threadIdx.x; entry < 64; entry += blockDim.x)
        blockBins[entry] = 0;
    __syncthreads();
    // The last block may be partly idle.
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)blockDim.x * gridDim.x)
        atomicAdd(&blockBins[in[i] / 4], 1u);
    __syncthreads();
    for (int entry = threadIdx.x; entry < 64; entry += blockDim.x)
        if (blockBins[entry] != 0)
            atomicAdd(&bins[entry], blockBins[entry]);
}

void launchHistogram(const unsigned char* in, unsigned int* bins, int n) {
    histogram<<<((n + 255) / 256 + 7) / 8, 256>>>(in, bins, n);
}
