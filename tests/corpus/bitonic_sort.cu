// Bitonic sort of keys with values, in shared memory and merged through global memory.
typedef unsigned int uint;
#define SHARED_SIZE 512
__device__ inline void Comparator(uint& keyA, uint& valA, uint& keyB, uint& valB, uint dir) {
    if ((keyA > keyB) == dir) {
        uint t = keyA;
        keyA = keyB;
        keyB = t;
        t = valA;
        valA = valB;
        valB = t;
    }
}
__global__ void bitonicSortShared(uint* d_DstKey, uint* d_DstVal, uint* d_SrcKey, uint* d_SrcVal, uint dir) {
    __shared__ uint s_key[SHARED_SIZE], s_val[SHARED_SIZE];
    d_SrcKey += blockIdx.x * SHARED_SIZE + threadIdx.x;
    d_SrcVal += blockIdx.x * SHARED_SIZE + threadIdx.x;
    d_DstKey += blockIdx.x * SHARED_SIZE + threadIdx.x;
    d_DstVal += blockIdx.x * SHARED_SIZE + threadIdx.x;
    s_key[threadIdx.x] = d_SrcKey[0];
    s_val[threadIdx.x] = d_SrcVal[0];
    s_key[threadIdx.x + SHARED_SIZE / 2] = d_SrcKey[SHARED_SIZE / 2];
    s_val[threadIdx.x + SHARED_SIZE / 2] = d_SrcVal[SHARED_SIZE / 2];
    for (uint size = 2; size <= SHARED_SIZE; size <<= 1) {
        uint ddd = size == SHARED_SIZE ? dir : dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    __syncthreads();
    d_DstKey[0] = s_key[threadIdx.x];
    d_DstVal[0] = s_val[threadIdx.x];
    d_DstKey[SHARED_SIZE / 2] = s_key[threadIdx.x + SHARED_SIZE / 2];
    d_DstVal[SHARED_SIZE / 2] = s_val[threadIdx.x + SHARED_SIZE / 2];
}
extern "C" void sortBlocks(uint* dk, uint* dv, uint* sk, uint* sv, uint batch) {
    bitonicSortShared<<<batch, SHARED_SIZE / 2>>>(dk, dv, sk, sv, 1);
}
