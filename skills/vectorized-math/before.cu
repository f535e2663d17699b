// A step of descent with weight decay in half precision: each instruction computes on one element.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void descend(__half* weights, const __half* gradients, __half rate, __half decay,
                        int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const __half slope = __hfma(decay, weights[i], gradients[i]);
        weights[i] -= rate * slope; // a product and a difference
    }
}

void launchDescend(__half* weights, const __half* gradients, float rate, float decay, int n) {
    descend<<<(n + 255) / 256, 256>>>(weights, gradients, __float2half(rate), __float2half(decay),
                                      n);
}
