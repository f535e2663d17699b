// Energy of a set of particles: every thread adds to one number in global memory.
#include <cuda_runtime.h>

__global__ void kineticEnergy(const float* speed, const float* mass, float* energy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Each thread gathers its own; one atomic a block updates energy.
    __shared__ float blockEnergy;
    if (threadIdx.x == 0)
        blockEnergy = 0.0f;
    __syncthreads();
    float threadEnergy = 0.0f;
    if (i < n) {
        // Half of the mass times the square of the speed.
        float e = 0.5f * mass[i] * speed[i] * speed[i];
        threadEnergy += e;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        threadEnergy += __shfl_down_sync(0xffffffff, threadEnergy, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&blockEnergy, threadEnergy);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(energy, blockEnergy);
}

void launchKineticEnergy(const float* speed, const float* mass, float* energy, int n) {
    kineticEnergy<<<(n + 255) / 256, 256>>>(speed, mass, energy, n);
}
