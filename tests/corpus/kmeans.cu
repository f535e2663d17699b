// Nearest centre per point, centres in constant memory, then accumulation of the new centres.
#include <cfloat>
#define MAX_CENTRES 32
#define DIMENSIONS 4
__constant__ float centres[MAX_CENTRES * DIMENSIONS];
__device__ int changed;
__global__ void assignClusters(const float* points, int* membership, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = -1;
    float bestDistance = FLT_MAX;
    for (int c = 0; c < k; ++c) {
        float d = 0;
        for (int j = 0; j < DIMENSIONS; ++j) {
            float diff = points[j * n + i] - centres[c * DIMENSIONS + j];
            d += diff * diff;
        }
        if (d < bestDistance) {
            bestDistance = d;
            best = c;
        }
    }
    if (membership[i] != best) {
        membership[i] = best;
        atomicAdd(&changed, 1);
    }
}
__global__ void accumulate(const float* points, const int* membership, float* sums, unsigned int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int c = membership[i];
        for (int j = 0; j < DIMENSIONS; ++j)
            atomicAdd(&sums[c * DIMENSIONS + j], points[j * n + i]);
        atomicInc(&counts[c], 0xffffffffu);
    }
}
int iterate(const float* points, int* membership, float* sums, unsigned* counts, int n, int k, const float* host) {
    int zero = 0, moved = 0;
    cudaMemcpyToSymbol(centres, host, k * DIMENSIONS * sizeof(float));
    cudaMemcpyToSymbol(changed, &zero, sizeof(int));
    assignClusters<<<(n + 127) / 128, 128>>>(points, membership, n, k);
    accumulate<<<(n + 127) / 128, 128>>>(points, membership, sums, counts, n);
    cudaMemcpyFromSymbol(&moved, changed, sizeof(int));
    return moved;
}
