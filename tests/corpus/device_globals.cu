// Globals of the device, the last-block pattern with fences, printf and assert.
#include <assert.h>
#include <stdio.h>
__device__ unsigned int retirementCount = 0;
__device__ float partialSums[64];
__device__ volatile int flag;
__managed__ int managedResult;
static __constant__ int table[4] = {1, 2, 4, 8};
__global__ void reduceSinglePass(const float* in, float* out, unsigned n) {
    __shared__ float sdata[128];
    __shared__ bool amLast;
    unsigned tid = threadIdx.x;
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += blockDim.x * gridDim.x)
        sum += in[i] * table[i & 3];
    sdata[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) {
        partialSums[blockIdx.x] = sdata[0];
        __threadfence();
        unsigned ticket = atomicInc(&retirementCount, gridDim.x);
        amLast = (ticket == gridDim.x - 1);
    }
    __syncthreads();
    if (amLast && tid == 0) {
        float total = 0;
        for (unsigned b = 0; b < gridDim.x; ++b)
            total += ((volatile float*)partialSums)[b];
        *out = total;
        retirementCount = 0;
        managedResult = (int)total;
        assert(gridDim.x <= 64);
        printf("block %u of %u was last\n", blockIdx.x, gridDim.x);
    }
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 4096 * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    reduceSinglePass<<<16, 128>>>(in, out, 4096);
    cudaDeviceSynchronize();
    printf("%d\n", managedResult);
}
