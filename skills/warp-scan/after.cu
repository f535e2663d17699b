// Prefix sums of each block's elements, by doubling steps: two barriers a step.
#include <cuda_runtime.h>

__global__ void blockScan(const float* in, float* out, int n) {
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    float sum = i < n ? in[i] : 0.0f;
    // Each warp scans its values in registers, then the first warp scans the warps' sums.
    __shared__ float warpSums[32];
    for (int offset = 1; offset < 32; offset *= 2) {
        const auto lower = __shfl_up_sync(0xffffffff, sum, offset);
        if (tid % 32 >= offset)
            sum += lower;
    }
    if (tid % 32 == 31)
        warpSums[tid / 32] = sum;
    __syncthreads();
    if (tid < 32) {
        auto warpSum = tid < blockDim.x / 32 ? warpSums[tid] : 0.0f;
        for (int offset = 1; offset < 32; offset *= 2) {
            const auto lower = __shfl_up_sync(0xffffffff, warpSum, offset);
            if (tid % 32 >= offset)
                warpSum += lower;
        }
        warpSums[tid] = warpSum;
    }
    __syncthreads();
    if (tid >= 32)
        sum += warpSums[tid / 32 - 1];
    if (i < n)
        out[i] = sum;
}

void launchBlockScan(const float* in, float* out, int n) {
    blockScan<<<(n + 255) / 256, 256>>>(in, out, n);
}
