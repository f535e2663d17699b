// One 4-byte load, one 4-byte load and store a thread: more instructions in flight than bytes need.
#include <cuda_runtime.h>

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // i counts groups of 4 elements: one access of up to 16 bytes each, where the pointers allow it.
    const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 16 == 0;
    if (aligned && i < n / 4) {
        const float4 x4 = reinterpret_cast<const float4*>(x)[i];
        float4 y4 = reinterpret_cast<const float4*>(y)[i];
        y4.x = a * x4.x + y4.x;
        y4.y = a * x4.y + y4.y;
        y4.z = a * x4.z + y4.z;
        y4.w = a * x4.w + y4.w;
        reinterpret_cast<float4*>(y)[i] = y4;
    } else if (i <= n / 4) {
        for (int k = 4 * i; k < n && k - 4 * i < 4; ++k)
            y[k] = a * x[k] + y[k];
    }
}

void launchSaxpy(int n, float a, const float* x, float* y) {
    saxpy<<<((n + 255) / 256 + 3) / 4, 256>>>(n, a, x, y);
}
