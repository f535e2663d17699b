// A table is read at random places, beside arrays that are read and written once.
#include <cuda_runtime.h>

__global__ void lookUp(const float* table, const int* place, const float* weight, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        __stcs(&out[i], __ldcs(&weight[i]) * table[__ldcs(&place[i])]);
}

void launchLookUp(const float* table, const int* place, const float* weight, float* out, int n) {
    lookUp<<<(n + 255) / 256, 256>>>(table, place, weight, out, n);
}
