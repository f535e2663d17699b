// The compiler must assume that storing out[i] may change x, y or weights.
#include <cuda_runtime.h>

__global__ void blend(float* __restrict__ out, const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ weights, int n);

void launchBlend(float* out, float* x, float* y, const float* weights, int n) {
    blend<<<(n + 255) / 256, 256>>>(out, x, y, weights, n);
}

__global__ void blend(float* __restrict__ out, const float* __restrict__ x, const float* __restrict__ y, const float* __restrict__ weights, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[2 * i] = x[i] * weights[0];
        out[2 * i + 1] = y[i] * weights[0];
    }
}
