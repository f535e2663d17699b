// One element a thread: the grid must cover all of n.
#include <cuda_runtime.h>

__global__ void scale(float* data, float factor, int n) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)blockDim.x * gridDim.x) {
        // The last block may be partly idle.
        data[i] = data[i] * factor;
    }
}

void launchScale(float* data, float factor, int n) {
    scale<<<(n + 255) / 256, 256>>>(data, factor, n);
}
