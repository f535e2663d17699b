// The normal equations of a trilinear fit in each cell, to as many samples as weigh enough.
#include <cuda_runtime.h>

constexpr int TERMS = 8;
constexpr int PAIRS = TERMS * (TERMS + 1) / 2;

__global__ void __launch_bounds__(256, 4)
    normalEquations(const float4* __restrict__ samples, float* __restrict__ sums,
                    int cells, int each, float enough) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells)
        return;
    float matrix[PAIRS] = {}, right[TERMS] = {};
    // The next sample cannot be asked for before this one is weighed.
    for (int k = 0; k < each && right[0] < enough; ++k) {
        const float4 at = samples[k * cells + cell];
        const float term[TERMS] = {1.0f,        at.x,        at.y,        at.z,
                                   at.x * at.y, at.y * at.z, at.z * at.x, at.x * at.y * at.z};
#pragma unroll
        for (int row = 0, pair = 0; row < TERMS; ++row) {
            right[row] += term[row] * at.w;
#pragma unroll
            for (int column = 0; column <= row; ++column, ++pair)
                matrix[pair] += term[row] * term[column];
        }
    }
#pragma unroll
    for (int pair = 0; pair < PAIRS; ++pair)
        sums[pair * cells + cell] = matrix[pair];
#pragma unroll
    for (int row = 0; row < TERMS; ++row)
        sums[(PAIRS + row) * cells + cell] = right[row];
}

void launchNormalEquations(const float4* samples, float* sums, int cells, int each, float enough) {
    normalEquations<<<(cells + 255) / 256, 256>>>(samples, sums, cells, each, enough);
}
