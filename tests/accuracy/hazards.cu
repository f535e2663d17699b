// Kernels with one mistake each, and the same work done right. `hazards NAME` runs one.
#include "run.h"

#include <cooperative_groups.h>
#include <string>

namespace cg = cooperative_groups;

constexpr int threads = 128;

// ---- Wrong ----

__global__ void reverseWithoutBarrier(const float* in, float* out) {
    __shared__ float tile[threads];
    tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    out[blockIdx.x * threads + threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

__global__ void reduceWithoutInnerBarrier(const float* in, float* out) {
    __shared__ float partial[threads];
    partial[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
    for (int s = threads / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            partial[threadIdx.x] += partial[threadIdx.x + s];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

// The next round's store overtakes this round's loads.
__global__ void tileReusedWithoutBarrier(const float* in, float* out) {
    __shared__ float tile[threads];
    float sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[threadIdx.x] = in[round * threads + threadIdx.x];
        __syncthreads();
        sum += tile[threads - 1 - threadIdx.x];
    }
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

__global__ void everyThreadWritesLast(float* out) {
    __shared__ int last;
    last = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = last;
}

__global__ void histogramWithoutAtomics(const int* in, int* bins) {
    __shared__ int local[16];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    local[in[blockIdx.x * threads + threadIdx.x] & 15]++;
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void broadcastWithoutBarrier(const float* in, float* out) {
    __shared__ float first;
    if (threadIdx.x == 0)
        first = in[blockIdx.x];
    out[blockIdx.x * threads + threadIdx.x] = first;
}

__global__ void shiftInPlace(float* data) {
    __shared__ float tile[threads];
    tile[threadIdx.x] = data[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
    tile[threadIdx.x] = tile[(threadIdx.x + 1) % threads];
    __syncthreads();
    data[blockIdx.x * threads + threadIdx.x] = tile[threadIdx.x];
}

__global__ void readPastEnd(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + in[i + 1];
}

__global__ void writeWithoutGuard(float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

__global__ void guardOffByOne(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = in[i];
}

__global__ void readBeforeBegin(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i - 1];
}

__global__ void sharedPastEnd(const float* in, float* out) {
    __shared__ float tile[threads];
    tile[threadIdx.x + 1] = in[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = tile[threadIdx.x];
}

__global__ void misalignedFloat4(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = *reinterpret_cast<const float4*>(in + 4 * i + 1);
        out[i] = v.x * v.y + v.z * v.w;
    }
}

// Lanes of one warp wait at two different barriers.
__global__ void barrierInBothBranches(const float* in, float* out) {
    __shared__ float tile[threads];
    tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    float value = 0;
    if (threadIdx.x % 2 == 0) {
        value = 2 * tile[threadIdx.x];
        __syncthreads();
        value += tile[threadIdx.x + 1];
    } else {
        value = 3 * tile[threadIdx.x];
        __syncthreads();
        value += tile[threadIdx.x - 1];
    }
    out[blockIdx.x * threads + threadIdx.x] = value;
}

__global__ void barrierForHalfOfAWarp(const float* in, float* out) {
    __shared__ float tile[threads];
    tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    if (threadIdx.x % 32 < 16)
        __syncthreads();
    float value = tile[threadIdx.x];
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = value + tile[threads - 1 - threadIdx.x];
}

__global__ void sharedNeverWritten(float* out) {
    __shared__ float tile[threads];
    if (threadIdx.x % 2 == 0)
        tile[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = tile[threadIdx.x];
}

// ---- Right ----

__global__ void reverse(const float* in, float* out) {
    __shared__ float tile[threads];
    tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

__global__ void reduce(const float* in, float* out) {
    __shared__ float partial[threads];
    partial[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    __syncthreads();
    for (int s = threads / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

__global__ void tileReused(const float* in, float* out) {
    __shared__ float tile[threads];
    float sum = 0;
    for (int round = 0; round < 4; ++round) {
        tile[threadIdx.x] = in[round * threads + threadIdx.x];
        __syncthreads();
        sum += tile[threads - 1 - threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

__global__ void doubleBuffered(const float* in, float* out) {
    __shared__ float tile[2][threads];
    float sum = 0;
    tile[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int round = 0; round < 4; ++round) {
        if (round < 3)
            tile[(round + 1) % 2][threadIdx.x] = in[(round + 1) * threads + threadIdx.x];
        sum += tile[round % 2][threads - 1 - threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * threads + threadIdx.x] = sum;
}

__global__ void histogramWithAtomics(const int* in, int* bins) {
    __shared__ int local[16];
    if (threadIdx.x < 16)
        local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local[in[blockIdx.x * threads + threadIdx.x] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void broadcastWithBarrier(const float* in, float* out) {
    __shared__ float first;
    if (threadIdx.x == 0)
        first = in[blockIdx.x];
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = first;
}

__global__ void guardedCopy(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

__global__ void neighbourSum(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = in[i - 1] + in[i + 1];
}

__global__ void alignedFloat4(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 v = *reinterpret_cast<const float4*>(in + 4 * i);
        out[i] = v.x * v.y + v.z * v.w;
    }
}

__global__ void barrierInUniformBranch(const float* in, float* out, int shift) {
    __shared__ float tile[threads];
    tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    if (shift > 0) {
        __syncthreads();
        out[blockIdx.x * threads + threadIdx.x] = tile[(threadIdx.x + shift) % threads];
    }
}

// Lanes of one warp hand values on; __syncwarp is enough.
__global__ void warpExchange(const float* in, float* out) {
    __shared__ float tile[threads];
    int warp = threadIdx.x / 32 * 32, lane = threadIdx.x % 32;
    tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    __syncwarp();
    out[blockIdx.x * threads + threadIdx.x] = tile[warp + 31 - lane];
}

__global__ void shuffleSum(const float* in, float* out) {
    float value = in[blockIdx.x * threads + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&out[blockIdx.x], value);
}

__global__ void groupTiles(const float* in, float* out) {
    __shared__ float tile[threads];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> group = cg::tiled_partition<16>(block);
    tile[threadIdx.x] = in[blockIdx.x * threads + threadIdx.x];
    group.sync();
    float next = tile[threadIdx.x / 16 * 16 + (group.thread_rank() + 1) % 16];
    block.sync();
    out[blockIdx.x * threads + threadIdx.x] = next;
}

// The last block to finish adds up what the others left.
__device__ unsigned finishedBlocks = 0;
__global__ void lastBlockSums(const float* in, float* sums, float* total) {
    __shared__ bool isLast;
    float value = in[blockIdx.x * threads + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&sums[blockIdx.x], value);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        isLast = atomicAdd(&finishedBlocks, 1u) == gridDim.x - 1;
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        __threadfence();
        float all = 0;
        for (unsigned i = 0; i < gridDim.x; ++i)
            all += reinterpret_cast<volatile float*>(sums)[i];
        *total = all;
    }
}

__global__ void earlyReturnBeforeWork(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[n - 1 - i];
}

__global__ void sharedAllWritten(float* out) {
    __shared__ float tile[threads];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * threads + threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    const int n = 1000;
    const int blocks = 8;
    float *in, *out, *few;
    int *keys, *bins;
    require(cudaMalloc(&in, n * sizeof(float)));
    require(cudaMalloc(&out, n * sizeof(float)));
    require(cudaMemset(in, 0, n * sizeof(float)));
    require(cudaMemset(out, 0, n * sizeof(float)));
    float *wide, *wideOut;
    require(cudaMalloc(&wide, blocks * threads * sizeof(float)));
    require(cudaMalloc(&wideOut, blocks * threads * sizeof(float)));
    require(cudaMemset(wide, 0, blocks * threads * sizeof(float)));
    require(cudaMemset(wideOut, 0, blocks * threads * sizeof(float)));
    require(cudaMalloc(&few, blocks * sizeof(float)));
    require(cudaMemset(few, 0, blocks * sizeof(float)));
    require(cudaMalloc(&keys, blocks * threads * sizeof(int)));
    require(cudaMemset(keys, 0, blocks * threads * sizeof(int)));
    require(cudaMalloc(&bins, 16 * sizeof(int)));
    require(cudaMemset(bins, 0, 16 * sizeof(int)));
    float* total;
    require(cudaMalloc(&total, sizeof(float)));

    if (name == "reverseWithoutBarrier") reverseWithoutBarrier<<<blocks, threads>>>(wide, wideOut);
    else if (name == "reduceWithoutInnerBarrier") reduceWithoutInnerBarrier<<<blocks, threads>>>(wide, few);
    else if (name == "tileReusedWithoutBarrier") tileReusedWithoutBarrier<<<blocks, threads>>>(wide, wideOut);
    else if (name == "everyThreadWritesLast") everyThreadWritesLast<<<blocks, threads>>>(wideOut);
    else if (name == "histogramWithoutAtomics") histogramWithoutAtomics<<<blocks, threads>>>(keys, bins);
    else if (name == "broadcastWithoutBarrier") broadcastWithoutBarrier<<<blocks, threads>>>(wide, wideOut);
    else if (name == "shiftInPlace") shiftInPlace<<<blocks, threads>>>(wideOut);
    else if (name == "readPastEnd") readPastEnd<<<blocks, threads>>>(in, out, n);
    else if (name == "writeWithoutGuard") writeWithoutGuard<<<blocks, threads>>>(out);
    else if (name == "guardOffByOne") guardOffByOne<<<blocks, threads>>>(in, out, n);
    else if (name == "readBeforeBegin") readBeforeBegin<<<blocks, threads>>>(in, out, n);
    else if (name == "sharedPastEnd") sharedPastEnd<<<blocks, threads>>>(wide, wideOut);
    else if (name == "misalignedFloat4") misalignedFloat4<<<2, threads>>>(in, out, 240);
    else if (name == "barrierInBothBranches") barrierInBothBranches<<<blocks, threads>>>(wide, wideOut);
    else if (name == "barrierForHalfOfAWarp") barrierForHalfOfAWarp<<<blocks, threads>>>(wide, wideOut);
    else if (name == "sharedNeverWritten") sharedNeverWritten<<<blocks, threads>>>(wideOut);
    else if (name == "reverse") reverse<<<blocks, threads>>>(wide, wideOut);
    else if (name == "reduce") reduce<<<blocks, threads>>>(wide, few);
    else if (name == "tileReused") tileReused<<<blocks, threads>>>(wide, wideOut);
    else if (name == "doubleBuffered") doubleBuffered<<<blocks, threads>>>(wide, wideOut);
    else if (name == "histogramWithAtomics") histogramWithAtomics<<<blocks, threads>>>(keys, bins);
    else if (name == "broadcastWithBarrier") broadcastWithBarrier<<<blocks, threads>>>(wide, wideOut);
    else if (name == "guardedCopy") guardedCopy<<<blocks, threads>>>(in, out, n);
    else if (name == "neighbourSum") neighbourSum<<<blocks, threads>>>(in, out, n);
    else if (name == "alignedFloat4") alignedFloat4<<<2, threads>>>(in, out, n);
    else if (name == "barrierInUniformBranch") barrierInUniformBranch<<<blocks, threads>>>(wide, wideOut, 5);
    else if (name == "warpExchange") warpExchange<<<blocks, threads>>>(wide, wideOut);
    else if (name == "shuffleSum") shuffleSum<<<blocks, threads>>>(wide, few);
    else if (name == "groupTiles") groupTiles<<<blocks, threads>>>(wide, wideOut);
    else if (name == "lastBlockSums") lastBlockSums<<<blocks, threads>>>(wide, few, total);
    else if (name == "earlyReturnBeforeWork") earlyReturnBeforeWork<<<blocks, threads>>>(in, out, n);
    else if (name == "sharedAllWritten") sharedAllWritten<<<blocks, threads>>>(wideOut);
    else {
        std::fprintf(stderr, "no kernel '%s'\n", name.c_str());
        return 2;
    }
    return finish();
}
