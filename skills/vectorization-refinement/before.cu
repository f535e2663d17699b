// A spectrum times a filter's response, in place: complex numbers of 8 bytes, one access each.
#include <cuda_runtime.h>

__global__ void filter(float2* spectrum, const float2* response, float scale, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float2 s = spectrum[i];
        float2 r = response[i]; // of the filter
        spectrum[i] = make_float2(scale * (s.x * r.x - s.y * r.y), scale * (s.x * r.y + s.y * r.x));
    }
}

void launchFilter(float2* spectrum, const float2* response, float scale, int n) {
    filter<<<264, 256>>>(spectrum, response, scale, n);
}
