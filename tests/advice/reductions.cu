// Sums and the like, in the stages that the literature takes them through.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// expert: divergence; warp-shuffle-reduction; sequential-addressing
__global__ void sumInterleaved(const float* in, float* partial, unsigned n) {
    extern __shared__ float s[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    s[tid] = i < n ? in[i] : 0.f;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        if (tid % (2 * step) == 0)
            s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = s[0];
}

// expert: bank-conflicts; sequential-addressing; warp-shuffle-reduction
__global__ void sumStrided(const float* in, float* partial, unsigned n) {
    extern __shared__ float cache[];
    const unsigned tid = threadIdx.x;
    const unsigned i = blockIdx.x * blockDim.x + tid;
    cache[tid] = i < n ? in[i] : 0.f;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s <<= 1) {
        const unsigned index = 2 * s * tid;
        if (index < blockDim.x)
            cache[index] += cache[index + s];
        __syncthreads();
    }
    if (tid == 0)
        partial[blockIdx.x] = cache[0];
}

// expert: synchronization; warp-shuffle-reduction; thread-coarsening
__global__ void sumSequential(const float* in, float* partial, int n) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        partial[blockIdx.x] = s[0];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void sumByShuffles(const float* __restrict__ in, float* __restrict__ partial, int n) {
    float sum = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    __shared__ float warps[32];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0.f;
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (threadIdx.x == 0)
            partial[blockIdx.x] = sum;
    }
}

// expert: synchronization; block-reduction; warp-aggregated-atomics
__global__ void sumByAtomics(const float* x, float* total, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}

// expert: synchronization; warp-aggregated-atomics; block-reduction
__global__ void countPositive(const int* x, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (x[i] > 0)
        atomicAdd(count, 1);
}

// expert: synchronization; block-reduction; warp-aggregated-atomics
__global__ void maximumByAtomics(const int* values, int* best, int n) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        int v = values[i];
        atomicMax(best, v);
    }
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void sumByGroups(const float* x, float* total, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float sum = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += x[i];
    for (int offset = warp.size() / 2; offset > 0; offset /= 2)
        sum += warp.shfl_down(sum, offset);
    if (warp.thread_rank() == 0)
        atomicAdd(total, sum);
}

// expert: synchronization; warp-shuffle-reduction; thread-coarsening
__global__ void dotTree(const double* a, const double* b, double* out, int n) {
    __shared__ double products[128];
    int tid = threadIdx.x;
    int i = blockIdx.x * 128 + tid;
    products[tid] = (i < n) ? a[i] * b[i] : 0.0;
    __syncthreads();
    for (int s = 64; s >= 1; s = s / 2) {
        if (tid < s)
            products[tid] = products[tid] + products[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = products[0];
}

// expert: occupancy|memory-latency; split-reduction; block-reduction
__global__ void sumByOneThread(const float* x, float* total, int n) {
    float sum = 0.f;
    for (int i = 0; i < n; ++i)
        sum += x[i];
    *total = sum;
}

// expert: uncoalesced-access; row-per-warp; row-per-block
__global__ void rowSums(const float* a, float* sums, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.f;
    for (int c = 0; c < columns; ++c)
        sum += a[row * columns + c];
    sums[row] = sum;
}

// expert: memory-bandwidth|occupancy; split-reduction; memory-level-parallelism
__global__ void columnSums(const float* a, float* sums, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.f;
        for (int r = 0; r < rows; ++r)
            sum += a[r * columns + column];
        sums[column] = sum;
    }
}

// expert: uncoalesced-access; row-per-warp; welford-one-pass
__global__ void rowVariance(const float* a, float* variance, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        const float* row = a + r * columns;
        float mean = 0.f;
        for (int c = 0; c < columns; c++)
            mean += row[c];
        mean /= columns;
        float sum = 0.f;
        for (int c = 0; c < columns; c++) {
            float d = row[c] - mean;
            sum += d * d;
        }
        variance[r] = sum / columns;
    }
}

// expert: synchronization; warp-shuffle-reduction; thread-coarsening
__global__ void argMaxTree(const float* x, float* bestValue, int* bestIndex, int n) {
    __shared__ float value[256];
    __shared__ int index[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + threadIdx.x;
    value[t] = i < n ? x[i] : -1e30f;
    index[t] = i;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s && value[t + s] > value[t]) {
            value[t] = value[t + s];
            index[t] = index[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        bestValue[blockIdx.x] = value[0];
        bestIndex[blockIdx.x] = index[0];
    }
}

// expert: synchronization; block-reduction; warp-aggregated-atomics
__global__ void residual(const double* now, const double* before, double* error, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        double d = now[y * width + x] - before[y * width + x];
        atomicAdd(error, d * d);
    }
}

// expert: occupancy; launch-tuning; none
__global__ void finishSum(const float* partial, float* total, int blocks) {
    float sum = 0.f;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x)
        sum += partial[i];
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0)
        *total = sum;
}

// expert: synchronization; warp-shuffle-reduction; block-reduction
__global__ void sumToOneShared(const float* in, float* out, int n) {
    __shared__ float total;
    if (threadIdx.x == 0)
        total = 0.f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&total, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

void reductions(const float* x, const int* keys, const double* u, const double* v, float* out, double* result, int* counts,
                int n, int rows, int columns) {
    const int blocks = (n + 255) / 256;
    sumInterleaved<<<blocks, 256, 256 * sizeof(float)>>>(x, out, n);
    sumStrided<<<blocks, 256, 256 * sizeof(float)>>>(x, out, n);
    sumSequential<<<blocks, 256>>>(x, out, n);
    sumByShuffles<<<1024, 256>>>(x, out, n);
    sumByAtomics<<<blocks, 256>>>(x, out, n);
    countPositive<<<blocks, 256>>>(keys, counts, n);
    maximumByAtomics<<<1024, 256>>>(keys, counts, n);
    sumByGroups<<<1024, 256>>>(x, out, n);
    dotTree<<<(n + 127) / 128, 128>>>(u, v, result, n);
    sumByOneThread<<<1, 1>>>(x, out, n);
    rowSums<<<(rows + 127) / 128, 128>>>(x, out, rows, columns);
    columnSums<<<(columns + 127) / 128, 128>>>(x, out, rows, columns);
    rowVariance<<<(rows + 127) / 128, 128>>>(x, out, rows, columns);
    argMaxTree<<<blocks, 256>>>(x, out, counts, n);
    residual<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(u, v, result, columns, rows);
    finishSum<<<1, 32>>>(x, out, 1024);
    sumToOneShared<<<blocks, 256>>>(x, out, n);
}
