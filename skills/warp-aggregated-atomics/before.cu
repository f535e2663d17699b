// Keeps the positive elements of an array: each takes its place by an atomic on the size.
#include <cuda_runtime.h>

__global__ void compact(const float* in, float* out, int* size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = in[i];
        if (v > 0.0f) {
            int at = atomicAdd(size, 1);
            out[at] = v;
        }
    }
}

void launchCompact(const float* in, float* out, int* size, int n) {
    compact<<<(n + 255) / 256, 256>>>(in, out, size, n);
}
