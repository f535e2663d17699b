// Times sums and scans of blocks of 256 elements, and a histogram, written by hand in the forms that edits make or could make:
// docs/measurements/optimize-h200.md.
//
//     nvcc -O3 -arch=native tests/bench/block_collectives_gpu.cu -o collectives && ./collectives
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr unsigned everyLane = 0xffffffff;

// Sums: a tree in shared memory, as in examples/naive/reduction.cu.
__global__ void sumByTree(const float* in, float* sums, int n) {
    __shared__ float partial[threads];
    const unsigned tid = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = partial[0];
}

// Shuffles of values that went through shared memory, for `parts` blocks at a time.
template <int parts> __global__ void sumByShuffles(const float* in, float* sums, int n, unsigned blocks) {
    __shared__ float partial[parts][threads];
    const unsigned tid = threadIdx.x;
    float sum[parts];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const unsigned i = (blockIdx.x * parts + part) * blockDim.x + tid;
        partial[part][tid] = i < n ? in[i] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        sum[part] = partial[part][tid];
        for (int offset = 16; offset > 0; offset /= 2)
            sum[part] += __shfl_down_sync(everyLane, sum[part], offset);
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part)
        if (tid % 32 == 0)
            partial[part][tid / 32] = sum[part];
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part)
        if (tid < 32) {
            sum[part] = tid < blockDim.x / 32 ? partial[part][tid] : 0.0f;
            for (int offset = 16; offset > 0; offset /= 2)
                sum[part] += __shfl_down_sync(everyLane, sum[part], offset);
            if (tid == 0)
                partial[part][0] = sum[part];
        }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const unsigned block = blockIdx.x * parts + part;
        if (tid == 0 && block < blocks)
            sums[block] = partial[part][0];
    }
}

// Shuffles of values in registers, with one barrier.
template <int parts> __global__ void sumInRegisters(const float* in, float* sums, int n, unsigned blocks) {
    __shared__ float partial[parts][warps];
    const unsigned tid = threadIdx.x;
    float sum[parts];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const unsigned i = (blockIdx.x * parts + part) * threads + tid;
        sum[part] = i < n ? in[i] : 0.0f;
    }
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        for (int offset = 16; offset > 0; offset /= 2)
            sum[part] += __shfl_down_sync(everyLane, sum[part], offset);
        if (tid % 32 == 0)
            partial[part][tid / 32] = sum[part];
    }
    __syncthreads();
    if (tid >= 32)
        return;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        float total = tid < warps ? partial[part][tid] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2)
            total += __shfl_down_sync(everyLane, total, offset);
        const unsigned block = blockIdx.x * parts + part;
        if (tid == 0 && block < blocks)
            sums[block] = total;
    }
}

// A warp for each block; the tree stays in shared memory.
__global__ void sumByWarpTree(const float* in, float* sums, int n, unsigned blocks) {
    __shared__ float partial[warps][threads];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned block = blockIdx.x * warps + warp;
    if (block >= blocks)
        return;
#pragma unroll
    for (unsigned tid = lane; tid < threads; tid += 32) {
        const unsigned i = block * threads + tid;
        partial[warp][tid] = i < n ? in[i] : 0.0f;
    }
    __syncwarp();
#pragma unroll
    for (unsigned s = threads / 2; s > 0; s >>= 1) {
        for (unsigned tid = lane; tid < s; tid += 32)
            partial[warp][tid] += partial[warp][tid + s];
        __syncwarp();
    }
    if (lane == 0)
        sums[block] = partial[warp][0];
}

// A warp for each block, in registers.
__global__ void sumByWarp(const float* in, float* sums, int n, unsigned blocks) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned block = blockIdx.x * warps + threadIdx.x / 32;
    if (block >= blocks)
        return;
    float value[warps];
#pragma unroll
    for (int part = 0; part < warps; ++part) {
        const unsigned i = block * threads + part * 32 + lane;
        value[part] = i < n ? in[i] : 0.0f;
    }
    float sum = ((value[0] + value[4]) + (value[1] + value[5])) + ((value[2] + value[6]) + (value[3] + value[7]));
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(everyLane, sum, offset);
    if (lane == 0)
        sums[block] = sum;
}

// Scans: doubling steps in shared memory, as in examples/naive/scan.cu.
__global__ void scanByDoubling(const float* in, float* out, int n) {
    __shared__ float partial[threads];
    const int tid = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        const float before = tid >= offset ? partial[tid - offset] : 0.0f;
        __syncthreads();
        partial[tid] += before;
        __syncthreads();
    }
    if (i < n)
        out[i] = partial[tid];
}

__device__ float scanOfLanes(float value) {
    for (int offset = 1; offset < 32; offset *= 2) {
        const float lower = __shfl_up_sync(everyLane, value, offset);
        if (threadIdx.x % 32 >= offset)
            value += lower;
    }
    return value;
}

// Shuffles of values that go through shared memory before and after, for `parts` blocks at a time.
template <int parts> __global__ void scanByShuffles(const float* in, float* out, int n) {
    __shared__ float partial[parts][threads];
    __shared__ float warpSums[parts][32];
    const int tid = threadIdx.x;
    float sum[parts];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const int i = (blockIdx.x * parts + part) * blockDim.x + tid;
        partial[part][tid] = i < n ? in[i] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        sum[part] = scanOfLanes(partial[part][tid]);
        if (tid % 32 == 31)
            warpSums[part][tid / 32] = sum[part];
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part)
        if (tid < 32)
            warpSums[part][tid] = scanOfLanes(tid < blockDim.x / 32 ? warpSums[part][tid] : 0.0f);
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        if (tid >= 32)
            sum[part] += warpSums[part][tid / 32 - 1];
        partial[part][tid] = sum[part];
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const int i = (blockIdx.x * parts + part) * blockDim.x + tid;
        if (i < n)
            out[i] = partial[part][tid];
    }
}

// The same with values in registers, and two barriers.
template <int parts> __global__ void scanInRegisters(const float* in, float* out, int n) {
    __shared__ float warpSums[parts][32];
    const unsigned tid = threadIdx.x;
    float sum[parts];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const unsigned i = (blockIdx.x * parts + part) * threads + tid;
        sum[part] = i < n ? in[i] : 0.0f;
    }
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        sum[part] = scanOfLanes(sum[part]);
        if (tid % 32 == 31)
            warpSums[part][tid / 32] = sum[part];
    }
    __syncthreads();
    if (tid < 32)
#pragma unroll
        for (int part = 0; part < parts; ++part)
            warpSums[part][tid] = scanOfLanes(tid < warps ? warpSums[part][tid] : 0.0f);
    __syncthreads();
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        if (tid >= 32)
            sum[part] += warpSums[part][tid / 32 - 1];
        const unsigned i = (blockIdx.x * parts + part) * threads + tid;
        if (i < n)
            out[i] = sum[part];
    }
}

// A warp for each block: eight scans of 32, one after the other.
__global__ void scanByWarp(const float* in, float* out, int n, unsigned blocks) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned block = blockIdx.x * warps + threadIdx.x / 32;
    if (block >= blocks)
        return;
    float value[warps];
#pragma unroll
    for (int part = 0; part < warps; ++part) {
        const unsigned i = block * threads + part * 32 + lane;
        value[part] = i < n ? in[i] : 0.0f;
    }
    float before = 0.0f;
#pragma unroll
    for (int part = 0; part < warps; ++part) {
        value[part] = scanOfLanes(value[part]) + before;
        before = __shfl_sync(everyLane, value[part], 31);
    }
#pragma unroll
    for (int part = 0; part < warps; ++part) {
        const unsigned i = block * threads + part * 32 + lane;
        if (i < n)
            out[i] = value[part];
    }
}

// A warp for each block: a lane has eight neighbours. Elements of a launch are a multiple of 256.
__global__ void scanByWarpOfNeighbours(const float4* in, float4* out, unsigned blocks) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned block = blockIdx.x * warps + threadIdx.x / 32;
    if (block >= blocks)
        return;
    const unsigned at = block * (threads / 4) + lane * 2;
    float4 a = in[at], b = in[at + 1];
    a.y += a.x, a.z += a.y, a.w += a.z;
    b.x += a.w, b.y += b.x, b.z += b.y, b.w += b.z;
    const float before = scanOfLanes(b.w) - b.w;
    a.x += before, a.y += before, a.z += before, a.w += before;
    b.x += before, b.y += before, b.z += before, b.w += before;
    out[at] = a;
    out[at + 1] = b;
}

// A histogram of bytes, 16 a load, with `tables` tables a block that lanes use in turns.
template <int tables> __global__ void histogram(const uint4* in, unsigned* bins, int loads) {
    __shared__ unsigned counts[256 * tables];
    for (int i = threadIdx.x; i < 256 * tables; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
    for (int round = 0; round < loads; ++round) {
        const uint4 v = in[(blockIdx.x * loads + round) * blockDim.x + threadIdx.x];
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int byte = 0; byte < 16; ++byte)
            atomicAdd(&counts[(words[byte / 4] >> (8 * (byte % 4)) & 255) * tables + threadIdx.x % tables], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        unsigned count = 0;
        for (int table = 0; table < tables; ++table)
            count += counts[bin * tables + (table + bin) % tables];
        atomicAdd(&bins[bin], count);
    }
}

__global__ void copy(const float4* in, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

void check(cudaError_t status) {
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
}

// Prints the median of 15 times ten launches.
template <class Launch> void timed(const char* name, double bytes, Launch launch) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int warmUp = 0; warmUp < 3; ++warmUp)
        launch();
    std::vector<float> microseconds;
    for (int turn = 0; turn < 15; ++turn) {
        check(cudaEventRecord(begin));
        for (int i = 0; i < 10; ++i)
            launch();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        microseconds.push_back(milliseconds * 100);
    }
    std::sort(microseconds.begin(), microseconds.end());
    std::printf("%-44s %8.1f us %6.0f GB/s\n", name, microseconds[7], bytes / microseconds[7] / 1e3);
    check(cudaGetLastError());
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
}

int main() {
    constexpr int n = 1 << 26, half = n / 2, bytes = 1 << 28;
    constexpr unsigned blocks = n / threads, halfBlocks = half / threads;
    constexpr double MiB = 1 << 20;
    float *in, *out;
    unsigned* bins;
    check(cudaMalloc(&in, sizeof(float) * n));
    check(cudaMalloc(&out, sizeof(float) * n));
    check(cudaMalloc(&bins, sizeof(unsigned) * 256));
    check(cudaMemset(in, 0, sizeof(float) * n));
    timed("copy of 128 MiB", 256 * MiB, [&] { copy<<<(1 << 23) / 256, 256>>>((float4*)in, (float4*)out, 1 << 23); });

    const double read = 257 * MiB;
    timed("sums: tree", read, [&] { sumByTree<<<blocks, threads>>>(in, out, n); });
    timed("sums: shuffles", read, [&] { sumByShuffles<1><<<blocks, threads>>>(in, out, n, blocks); });
    timed("sums: shuffles, 8 blocks in one", read, [&] { sumByShuffles<8><<<blocks / 8, threads>>>(in, out, n, blocks); });
    timed("sums: registers, 8 blocks in one", read, [&] { sumInRegisters<8><<<blocks / 8, threads>>>(in, out, n, blocks); });
    timed("sums: warp a block, tree", read, [&] { sumByWarpTree<<<blocks / warps, threads>>>(in, out, n, blocks); });
    timed("sums: warp a block, registers", read, [&] { sumByWarp<<<blocks / warps, threads>>>(in, out, n, blocks); });

    const double moved = 256 * MiB;
    timed("scans: doubling steps", moved, [&] { scanByDoubling<<<halfBlocks, threads>>>(in, out, half); });
    timed("scans: shuffles", moved, [&] { scanByShuffles<1><<<halfBlocks, threads>>>(in, out, half); });
    timed("scans: shuffles, 2 blocks in one", moved, [&] { scanByShuffles<2><<<halfBlocks / 2, threads>>>(in, out, half); });
    timed("scans: registers, 4 blocks in one", moved, [&] { scanInRegisters<4><<<halfBlocks / 4, threads>>>(in, out, half); });
    timed("scans: warp a block, neighbours", moved, [&] {
        scanByWarpOfNeighbours<<<halfBlocks / warps, threads>>>((float4*)in, (float4*)out, halfBlocks);
    });
    timed("scans: warp a block, scans of 32", moved, [&] { scanByWarp<<<halfBlocks / warps, threads>>>(in, out, half, halfBlocks); });

    std::vector<unsigned char> values(bytes);
    for (int i = 0; i < bytes; ++i)
        values[i] = static_cast<unsigned char>(i * 7LL + i / 251);
    check(cudaMemcpy(in, values.data(), bytes, cudaMemcpyHostToDevice));
    constexpr int loads = 1024 / 16;
    timed("histogram: one table", bytes, [&] { histogram<1><<<bytes / 16 / threads / loads, threads>>>((uint4*)in, bins, loads); });
    timed("histogram: 16 tables", bytes, [&] { histogram<16><<<bytes / 16 / threads / loads, threads>>>((uint4*)in, bins, loads); });
}
