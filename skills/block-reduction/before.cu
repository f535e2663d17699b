// Energy of a set of particles: every thread adds to one number in global memory.
#include <cuda_runtime.h>

__global__ void kineticEnergy(const float* speed, const float* mass, float* energy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // Half of the mass times the square of the speed.
    float e = 0.5f * mass[i] * speed[i] * speed[i];
    atomicAdd(energy, e);
}

void launchKineticEnergy(const float* speed, const float* mass, float* energy, int n) {
    kineticEnergy<<<(n + 255) / 256, 256>>>(speed, mass, energy, n);
}
