// The likelihood of each sample under a mixture of 64 normal distributions.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(1024)
likelihood(const float* __restrict__ samples, const float* __restrict__ means,
           const float* __restrict__ inverses, const float* __restrict__ weights,
           float* __restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float sample = samples[i];
        float sum = 0.0f;
        #pragma unroll 4 // all of them
        for (int j = 0; j < 64; ++j) {
            const float distance = (sample - means[j]) * inverses[j];
            sum += weights[j] * __expf(-distance * distance);
        }
        out[i] = sum;
    }
}

void launchLikelihood(const float* samples, const float* means, const float* inverses,
                      const float* weights, float* out, int n) {
    likelihood<<<(n + 16383) / 16384, 1024>>>(samples, means, inverses, weights, out, n);
}
