// Kernels whose threads depend on each other.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void blockSum(const float* in, float* out, int n) {
    __shared__ float partial[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = partial[0];
}

__global__ void warpSums(const float* in, float* out) {
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0)
        out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
}

__global__ void tileSums(const float* in, float* out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    float value = in[block.thread_rank()];
    for (int offset = 4; offset > 0; offset /= 2)
        value += tile.shfl_down(value, offset);
    if (tile.thread_rank() == 0)
        out[block.thread_rank() / 8] = value;
}

__global__ void votes(int* out) {
    int t = threadIdx.x;
    out[t] = __syncthreads_count(t % 3 == 0);
    out[64 + t] = __ballot_sync(0xffffffff, t & 1);
    out[128 + t] = __any_sync(0xffffffff, t == 5) + 2 * __all_sync(0xffffffff, t < 32);
    out[192 + t] = __syncthreads_or(t == 63) + 2 * __syncthreads_and(t < 64);
}

__global__ void divergentMask(int* out) {
    int t = threadIdx.x;
    if (t % 4 == 0) {
        unsigned mask = __activemask();
        out[t] = __popc(mask);
        int sum = 0;
        for (int lane = 0; lane < 32; lane += 4)
            sum += __shfl_sync(mask, t, lane);
        out[32 + t] = sum;
    } else {
        out[t] = -1;
        out[32 + t] = -1;
    }
}

__global__ void dynamicShared(float* out, int n) {
    float* values = static_cast<float*>(ks_dynamic_shared());
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[n - 1 - threadIdx.x];
}

// The warp-synchronous tail of older reductions: correct as long as the lanes of a warp move
// together.
__global__ void lockStep(const float* in, float* out) {
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = in[t] + in[t + 32];
    s[t + 32] = 0;
    s[t] = s[t] + s[t + 16];
    s[t] = s[t] + s[t + 8];
    s[t] = s[t] + s[t + 4];
    s[t] = s[t] + s[t + 2];
    s[t] = s[t] + s[t + 1];
    if (t == 0)
        out[0] = s[0];
}

__global__ void histogram(const int* keys, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i] & 15], 1);
}

__global__ void gridPhases(float* data, float* out, int n) {
    __shared__ float mine;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        mine = blockIdx.x;
    data[i] = i;
    cg::this_grid().sync();
    out[i] = data[n - 1 - i] + 1000 * mine;
}

__global__ void earlyExit(const float* in, float* out, int n) {
    __shared__ float s[64];
    if (threadIdx.x >= n)
        return;
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}

__global__ void indices(int* out) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__device__ int counter;
__global__ void countBlocks(int* out) {
    if (threadIdx.x == 0)
        out[blockIdx.x] = atomicAdd(&counter, 1);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        printf("block %d of %d\n", blockIdx.x, gridDim.x);
}

// Threads of one block and of several take turns by a lock.
__global__ void spinLock(int* lock, int* total) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *total += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

extern "C" void ks_entry(void** a) {
    switch (*static_cast<int*>(a[0])) {
    case 0:
        return blockSum(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 1:
        return warpSums(*(const float**)a[1], *(float**)a[2]);
    case 2:
        return tileSums(*(const float**)a[1], *(float**)a[2]);
    case 3:
        return votes(*(int**)a[1]);
    case 4:
        return divergentMask(*(int**)a[1]);
    case 5:
        return dynamicShared(*(float**)a[1], *(int*)a[2]);
    case 6:
        return lockStep(*(const float**)a[1], *(float**)a[2]);
    case 7:
        return histogram(*(const int**)a[1], *(int**)a[2], *(int*)a[3]);
    case 8:
        return gridPhases(*(float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 9:
        return earlyExit(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 10:
        return indices(*(int**)a[1]);
    case 11:
        return countBlocks(*(int**)a[1]);
    case 12:
        return spinLock(*(int**)a[1], *(int**)a[2]);
    }
}
