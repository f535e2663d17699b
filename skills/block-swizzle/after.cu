// The dot products of all pairs of long vectors, which may be more than the L2 cache holds.
#include <cuda_runtime.h>

#define THREADS 256

__global__ void products(const float* left, const float* right, float* result, int rights,
                         int length) {
    // Blocks go down groups of 16 rows: those in flight share their loads in L2.
    const unsigned int groupRow = blockIdx.y / 16 * 16;
    const unsigned int groupRows = min(16u, gridDim.y - groupRow);
    const unsigned int placeInGroup = (blockIdx.y - groupRow) * gridDim.x + blockIdx.x;
    const unsigned int blockX = placeInGroup / groupRows;
    const unsigned int blockY = groupRow + placeInGroup % groupRows;
    __shared__ float parts[THREADS / 32];
    float sum = 0.0f;
    for (int k = threadIdx.x; k < length; k += THREADS)
        sum += left[blockY * length + k] * right[blockX * length + k];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < THREADS / 32; ++warp)
            sum += parts[warp];
        result[blockY * rights + blockX] = sum;
    }
}

void launchProducts(const float* left, const float* right, float* result, int lefts, int rights,
                    int length) {
    products<<<dim3(rights, lefts), THREADS>>>(left, right, result, rights, length);
}
