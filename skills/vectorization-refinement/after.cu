// A spectrum times a filter's response, in place: complex numbers of 8 bytes, one access each.
#include <cuda_runtime.h>

__global__ void filter(float2* spectrum, const float2* response, float scale, int n) {
    // Groups of 2 elements first, one access of up to 16 bytes each, where the pointers allow it.
    const bool aligned = (reinterpret_cast<size_t>(spectrum) | reinterpret_cast<size_t>(response)) % 16 == 0;
    const int groups = aligned ? n / 2 : 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += blockDim.x * gridDim.x) {
        const float4 spectrum4 = reinterpret_cast<const float4*>(spectrum)[i];
        float2 spectrum0 = make_float2(spectrum4.x, spectrum4.y);
        float2 spectrum1 = make_float2(spectrum4.z, spectrum4.w);
        const float4 response4 = reinterpret_cast<const float4*>(response)[i];
        const float2 response0 = make_float2(response4.x, response4.y);
        const float2 response1 = make_float2(response4.z, response4.w);
        {
            float2 s = spectrum0;
            float2 r = response0;
            spectrum0 = make_float2(scale * (s.x * r.x - s.y * r.y), scale * (s.x * r.y + s.y * r.x));
        }
        {
            float2 s = spectrum1;
            float2 r = response1;
            spectrum1 = make_float2(scale * (s.x * r.x - s.y * r.y), scale * (s.x * r.y + s.y * r.x));
        }
        reinterpret_cast<float4*>(spectrum)[i] = make_float4(spectrum0.x, spectrum0.y, spectrum1.x, spectrum1.y);
    }
    for (int i = 2 * groups + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float2 s = spectrum[i];
        float2 r = response[i]; // of the filter
        spectrum[i] = make_float2(scale * (s.x * r.x - s.y * r.y), scale * (s.x * r.y + s.y * r.x));
    }
}

void launchFilter(float2* spectrum, const float2* response, float scale, int n) {
    filter<<<264, 256>>>(spectrum, response, scale, n);
}
