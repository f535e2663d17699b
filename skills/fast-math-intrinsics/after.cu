// Pair forces with a soft core, one body a thread: arithmetic decides, not memory.
#include <cuda_runtime.h>

__global__ void potential(const float4* bodies, float* out, int n, float decay) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 self = bodies[i];
    float sum = 0.0f;
    for (int k = 0; k < n; ++k) {
        float dx = bodies[k].x - self.x;
        float dy = bodies[k].y - self.y;
        float dz = bodies[k].z - self.z;
        float squared = dx * dx + dy * dy + dz * dz + 1e-3f;
        // Screened: falls off faster than the inverse distance.
        sum += bodies[k].w * __expf(__fdividef(-squared, decay)) * (rsqrtf(squared));
    }
    out[i] = 0.5f * sum;
}

void launchPotential(const float4* bodies, float* out, int n, float decay) {
    potential<<<(n + 127) / 128, 128>>>(bodies, out, n, decay);
}
