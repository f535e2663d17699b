// A damped update over a grid-stride loop: each round waits for its own two loads.
#include <cuda_runtime.h>

__global__ void damp(const float* in, const float* rate, float* out, int n) {
    const long long step = gridDim.x * blockDim.x;
    // The loads of 4 rounds are under way before the first is used.
    for (long long first = blockIdx.x * blockDim.x + threadIdx.x; first < n; first += 4 * step) {
        float inAhead[4];
        float rateAhead[4];
        #pragma unroll
        for (int ahead = 0; ahead < 4; ++ahead)
            if (first + ahead * step < n) {
                const int i = first + ahead * step;
                inAhead[ahead] = in[i];
                rateAhead[ahead] = rate[i];
            }
        #pragma unroll
        for (int ahead = 0; ahead < 4; ++ahead)
            if (first + ahead * step < n) {
                const int i = first + ahead * step;
                // Both loads of a round can start at once; those of the next must wait.
                float value = inAhead[ahead];

                out[i] = value - rateAhead[ahead] * value;
            }
    }
}

// Four elements a thread.
void launchDamp(const float* in, const float* rate, float* out, int n) {
    damp<<<(n + 1023) / 1024, 256>>>(in, rate, out, n);
}
