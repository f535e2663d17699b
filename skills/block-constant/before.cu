// Blocks of 32 threads, as a constant says: a multiprocessor holds 32 of them, half of what it could.
#include <cuda_runtime.h>

#define THREADS 32 // of a block

__global__ void halve(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 0.5f * in[i];
}

void launchHalve(const float* in, float* out) {
    const int n = 1 << 20;
    halve<<<(n + THREADS - 1) / THREADS, THREADS>>>(in, out, n);
}
