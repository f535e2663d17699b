// Block sum in shared memory: a barrier a step, and most threads idle at the end.
#include <cuda_runtime.h>

__global__ void blockSum(const float* in, float* out, int n) {
    __shared__ float partial[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    float sum = i < n ? in[i] : 0.0f;
    // Each warp folds its values in registers, then the first warp folds the warps' results.
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (tid % 32 == 0)
        partial[tid / 32] = sum;
    __syncthreads();
    if (tid < 32) {
        sum = tid < blockDim.x / 32 ? partial[tid] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (tid == 0)
            partial[0] = sum;
    }
    __syncthreads();
    if (tid == 0)
        out[blockIdx.x] = partial[0];
}

void launchBlockSum(const float* in, float* out, int n) {
    blockSum<<<(n + 255) / 256, 256>>>(in, out, n);
}
