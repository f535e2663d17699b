// A filter along rows; its width is an argument, so the loop over it counts, compares and branches.
#include <cuda_runtime.h>

template <int width>
__global__ void filterRows(const float* in, const float* weights, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < width; ++k)
        sum += weights[k] * in[i + k];
    out[i] = sum;
}

void launchFilter(const float* in, const float* weights, float* out, int n) {
    filterRows<7><<<(n + 255) / 256, 256>>>(in, weights, out, n);
}
