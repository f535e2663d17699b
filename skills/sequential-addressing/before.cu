// Block sum in shared memory: the active threads lie ever further apart.
#include <cuda_runtime.h>

__global__ void blockSum(const float* in, float* out, int n) {
    __shared__ float partial[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = partial[0];
}

void launchBlockSum(const float* in, float* out, int n) {
    blockSum<<<(n + 255) / 256, 256>>>(in, out, n);
}
