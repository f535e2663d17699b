// The sum of the elements of each block.
#include <cuda_runtime.h>

__global__ void blockSums(const float* in, float* sums, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}

void launchSums(const float* in, float* sums, int n) {
    blockSums<<<(n + 255) / 256, 256>>>(in, sums, n);
}
