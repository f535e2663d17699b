// A damped update over a grid-stride loop: each round waits for its own two loads.
#include <cuda_runtime.h>

__global__ void damp(const float* in, const float* rate, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        // Both loads of a round can start at once; those of the next must wait.
        float value = in[i];

        out[i] = value - rate[i] * value;
    }
}

// Four elements a thread.
void launchDamp(const float* in, const float* rate, float* out, int n) {
    damp<<<(n + 1023) / 1024, 256>>>(in, rate, out, n);
}
