// A step of descent with weight decay in half precision: each instruction computes on one element.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void descend(__half* weights, const __half* gradients, __half rate, __half decay,
                        int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // a product and a difference
    // i counts groups of 2 elements: one access of up to 4 bytes each, where the pointers allow it.
    const bool aligned = (reinterpret_cast<size_t>(weights) | reinterpret_cast<size_t>(gradients)) % 4 == 0;
    if (aligned && i < n / 2) {
        __half2 weights2 = reinterpret_cast<const __half2*>(weights)[i];
        const __half2 gradients2 = reinterpret_cast<const __half2*>(gradients)[i];
        const __half2 slope = __hfma2(__half2half2(decay), weights2, gradients2);
        weights2 -= __half2half2(rate) * slope;
        reinterpret_cast<__half2*>(weights)[i] = weights2;
    } else if (i <= n / 2) {
        for (int k = 2 * i; k < n && k - 2 * i < 2; ++k) {
            const __half slope = __hfma(decay, weights[k], gradients[k]);
            weights[k] -= rate * slope;
        }
    }
}

void launchDescend(__half* weights, const __half* gradients, float rate, float decay, int n) {
    descend<<<((n + 255) / 256 + 1) / 2, 256>>>(weights, gradients, __float2half(rate), __float2half(decay),
                                      n);
}
