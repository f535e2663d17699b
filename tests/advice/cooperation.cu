// Threads that wait for each other, arrays of threads, and shared memory.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// expert: synchronization; kernel-fusion; persistent-kernel
__global__ void gridSteps(float* a, float* b, int n, int steps) {
    cg::grid_group grid = cg::this_grid();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; ++s) {
        if (i > 0 && i < n - 1)
            b[i] = 0.5f * (a[i - 1] + a[i + 1]);
        grid.sync();
        float* keep = a;
        a = b;
        b = keep;
    }
}

// expert: synchronization; warp-aggregated-atomics; block-reduction
__global__ void lockedSum(const float* x, float* total, int* lock, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *total += x[i];
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// expert: bank-conflicts; shared-memory-padding; swizzling
__global__ void rowsInShared(const float* in, float* out, int n) {
    __shared__ float s[32][32];
    const int t = threadIdx.x;
    for (int r = 0; r < 32; ++r)
        s[r][t] = in[(blockIdx.x * 32 + r) * 32 + t];
    __syncthreads();
    float sum = 0.f;
    for (int c = 0; c < 32; ++c)
        sum += s[t][c];
    out[blockIdx.x * 32 + t] = sum;
}

// expert: bank-conflicts; structure-of-arrays; shared-memory-padding
__global__ void recordsInShared(const float4* in, float* out, int n) {
    __shared__ float records[128 * 8];
    const int t = threadIdx.x;
    const float4 a = in[blockIdx.x * 256 + t], b = in[blockIdx.x * 256 + 128 + t];
    records[t * 8 + 0] = a.x;
    records[t * 8 + 1] = a.y;
    records[t * 8 + 2] = a.z;
    records[t * 8 + 3] = a.w;
    records[t * 8 + 4] = b.x;
    records[t * 8 + 5] = b.y;
    records[t * 8 + 6] = b.z;
    records[t * 8 + 7] = b.w;
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 8; ++k)
        sum += records[((t + 1) % 128) * 8 + k];
    out[blockIdx.x * 128 + t] = sum;
}

// expert: register-spill|memory-latency|memory-bandwidth|uncoalesced-access; shared-memory-staging; register-arrays
__global__ void sortWindow(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int window[64];
    for (int k = 0; k < 64; ++k)
        window[k] = in[k * n + i];
    for (int k = 1; k < 64; ++k) {
        const int v = window[k];
        int j = k - 1;
        while (j >= 0 && window[j] > v) {
            window[j + 1] = window[j];
            --j;
        }
        window[j + 1] = v;
    }
    for (int k = 0; k < 64; ++k)
        out[k * n + i] = window[k];
}

// expert: synchronization; thread-coarsening; warp-shuffles
__global__ void heatInShared(float* data, int steps) {
    __shared__ float s[2][256];
    const int t = threadIdx.x;
    s[0][t] = data[blockIdx.x * 256 + t];
    __syncthreads();
    int from = 0;
    for (int k = 0; k < steps; ++k) {
        float left = t > 0 ? s[from][t - 1] : s[from][t];
        float right = t < 255 ? s[from][t + 1] : s[from][t];
        s[1 - from][t] = s[from][t] + 0.1f * (left + right - 2.f * s[from][t]);
        from = 1 - from;
        __syncthreads();
    }
    data[blockIdx.x * 256 + t] = s[from][t];
}

// expert: memory-latency; async-copy; software-prefetch
__global__ void tilesInTurn(const float* a, const float* x, float* y, int n) {
    __shared__ float tile[64];
    const int r = blockIdx.x * 64 + threadIdx.x;
    float sum = 0.f;
    for (int t = 0; t < n; t += 64) {
        tile[threadIdx.x] = x[t + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 64; ++k)
            sum += a[(t + k) * n + r] * tile[k];
        __syncthreads();
    }
    y[r] = sum;
}

// expert: memory-bandwidth; none; vectorized-access
__global__ void stageAndStore(const float* __restrict__ in, float* __restrict__ out, int n) {
    __shared__ float s[256];
    const int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0.f;
    __syncthreads();
    if (i < n)
        out[i] = s[threadIdx.x] - s[(threadIdx.x + 255) % 256];
}

// expert: memory-latency|memory-bandwidth; scalar-promotion; restrict-and-const
__global__ void accumulateInMemory(const float* a, const float* b, float* c, int rows, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int r = 0; r < rows; ++r)
        c[i] += a[r * n + i] * b[r * n + i];
}

// expert: synchronization; warp-shuffle-reduction; warp-shuffles
__global__ void sumVolatile(const int* in, int* out, int n) {
    __shared__ volatile int s[512];
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * 512 + t];
    __syncthreads();
    for (unsigned d = 256; d > 32; d >>= 1) {
        if (t < d)
            s[t] = s[t] + s[t + d];
        __syncthreads();
    }
    if (t < 32)
        for (unsigned d = 32; d > 0; d >>= 1) {
            s[t] = s[t] + s[t + d];
            __syncwarp();
        }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

void cooperation(float* a, float* b, float* c, const float4* q, int* k, int* l, int n) {
    const int blocks = (n + 255) / 256;
    gridSteps<<<128, 256>>>(a, b, n, 100);
    lockedSum<<<blocks, 256>>>(a, b, k, n);
    rowsInShared<<<n / 32, 32>>>(a, b, n);
    recordsInShared<<<n / 256, 128>>>(q, b, n);
    sortWindow<<<blocks, 256>>>(k, l, n);
    heatInShared<<<n / 256, 256>>>(a, 100);
    tilesInTurn<<<n / 64, 64>>>(a, b, c, n);
    stageAndStore<<<blocks, 256>>>(a, b, n);
    accumulateInMemory<<<blocks, 256>>>(a, b, c, 64, n);
    sumVolatile<<<n / 512, 512>>>(k, l, n);
}
