// Irregular data: sparse matrices, graphs, gathers.
#include <cuda_runtime.h>

// expert: uncoalesced-access|divergence; row-per-warp; load-balancing
__global__ void csrScalar(const int* rowStart, const int* column, const float* value, const float* x, float* y, int rows) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0.f;
        for (int e = rowStart[r]; e < rowStart[r + 1]; ++e)
            sum += value[e] * x[column[e]];
        y[r] = sum;
    }
}

// expert: memory-bandwidth|memory-latency; load-balancing; none
__global__ void csrVector(const int* __restrict__ rowStart, const int* __restrict__ column, const double* __restrict__ value,
                          const double* __restrict__ x, double* __restrict__ y, int rows) {
    const int lane = threadIdx.x & 31;
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (r >= rows)
        return;
    double sum = 0.0;
    for (int e = rowStart[r] + lane; e < rowStart[r + 1]; e += 32)
        sum += value[e] * x[column[e]];
    for (int d = 16; d > 0; d >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0)
        y[r] = sum;
}

// expert: synchronization; segmented-reduction; binning
__global__ void cooProduct(const int* row, const int* column, const float* value, const float* x, float* y, int nonzeros) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < nonzeros)
        atomicAdd(&y[row[e]], value[e] * x[column[e]]);
}

// expert: memory-bandwidth|memory-latency; memory-level-parallelism; none
__global__ void ellProduct(const int* column, const float* value, const float* x, float* y, int rows, int width) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0.f;
    for (int k = 0; k < width; ++k) {
        const int c = column[k * rows + r];
        if (c >= 0)
            sum += value[k * rows + r] * x[c];
    }
    y[r] = sum;
}

// expert: uncoalesced-access; row-per-warp; load-balancing
__global__ void csrTimesDense(const int* offsets, const int* indices, const float* weights, const float* features, float* out, int nodes,
                              int width) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes)
        return;
    for (int f = 0; f < width; ++f) {
        float sum = 0.f;
        for (int e = offsets[node]; e < offsets[node + 1]; ++e)
            sum += weights[e] * features[indices[e] * width + f];
        out[node * width + f] = sum;
    }
}

// expert: uncoalesced-access|memory-latency; binning; none
__global__ void gather(const float* table, const int* where, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[where[i]];
}

// expert: uncoalesced-access|memory-latency; binning; none
__global__ void scatter(const double* in, const unsigned* where, double* out, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[where[i]] = in[i];
}

// expert: uncoalesced-access|divergence; row-per-warp; load-balancing
__global__ void bfsLevel(const int* offsets, const int* targets, int* level, int depth, int* changed, int nodes) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < nodes && level[v] == depth) {
        for (int e = offsets[v]; e < offsets[v + 1]; e++) {
            int u = targets[e];
            if (level[u] < 0) {
                level[u] = depth + 1;
                *changed = 1;
            }
        }
    }
}

// expert: uncoalesced-access|divergence; row-per-warp; load-balancing
__global__ void pageRankPull(const int* offsets, const int* sources, const float* rank, const int* degree, float* next, float damping,
                             int nodes) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes)
        return;
    float sum = 0.f;
    const int end = offsets[v + 1];
    for (int e = offsets[v]; e < end; ++e) {
        const int u = sources[e];
        sum += rank[u] / degree[u];
    }
    next[v] = (1.f - damping) / nodes + damping * sum;
}

// expert: synchronization|uncoalesced-access; segmented-reduction; row-per-warp
__global__ void pageRankPush(const int* offsets, const int* targets, const float* rank, float* next, int nodes) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < nodes) {
        const int begin = offsets[v], end = offsets[v + 1];
        if (begin == end)
            return;
        const float share = rank[v] / (end - begin);
        for (int e = begin; e < end; ++e)
            atomicAdd(&next[targets[e]], share);
    }
}

// expert: synchronization|uncoalesced-access; binning; none
__global__ void relaxEdges(const int* from, const int* to, const int* length, int* distance, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    const int through = distance[from[e]] + length[e];
    if (through < distance[to[e]])
        atomicMin(&distance[to[e]], through);
}

// expert: memory-latency; path-compression; persistent-kernel
__global__ void jumpToRoots(int* parent, int nodes) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes)
        return;
    int p = parent[v];
    while (p != parent[p])
        p = parent[p];
    parent[v] = p;
}

// expert: uncoalesced-access; row-per-warp; load-balancing
__global__ void degreeWeighted(const int* __restrict__ offsets, const float* __restrict__ weights, float* __restrict__ totals, int nodes) {
    const int stride = gridDim.x * blockDim.x;
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < nodes; v += stride) {
        float total = 0.f;
        for (int e = offsets[v]; e < offsets[v + 1]; ++e)
            total += weights[e];
        totals[v] = total;
    }
}

// expert: uncoalesced-access; row-per-warp; vectorized-access
__global__ void embeddingLookup(const float* table, const int* tokens, float* out, int count, int width) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < count)
        for (int k = 0; k < width; ++k)
            out[t * width + k] = table[tokens[t] * width + k];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void embeddingByBlocks(const float* table, const int* tokens, float* out, int width) {
    const int token = tokens[blockIdx.x];
    for (int k = threadIdx.x; k < width; k += blockDim.x)
        out[blockIdx.x * width + k] = table[token * width + k];
}

// expert: memory-bandwidth; none; thread-coarsening
__global__ void diagonals(const double* diagonal, const int* offset, const double* x, double* y, int rows, int count) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        double sum = 0;
        for (int d = 0; d < count; d++) {
            int c = r + offset[d];
            if (c >= 0 && c < rows)
                sum += diagonal[d * rows + r] * x[c];
        }
        y[r] = sum;
    }
}

void sparse(int* i, int* j, int* k, int* changed, float* a, float* b, float* c, double* u, double* v, double* w, unsigned* at, int n) {
    const int blocks = (n + 255) / 256;
    csrScalar<<<blocks, 256>>>(i, j, a, b, c, n);
    csrVector<<<(n + 7) / 8, 256>>>(i, j, u, v, w, n);
    cooProduct<<<blocks, 256>>>(i, j, a, b, c, n);
    ellProduct<<<blocks, 256>>>(j, a, b, c, n, 32);
    csrTimesDense<<<blocks, 256>>>(i, j, a, b, c, n, 64);
    gather<<<blocks, 256>>>(a, i, c, n);
    scatter<<<blocks, 256>>>(u, at, v, n);
    bfsLevel<<<blocks, 256>>>(i, j, k, 1, changed, n);
    pageRankPull<<<blocks, 256>>>(i, j, a, k, b, 0.85f, n);
    pageRankPush<<<blocks, 256>>>(i, j, a, b, n);
    relaxEdges<<<blocks, 256>>>(i, j, k, changed, n);
    jumpToRoots<<<blocks, 256>>>(i, n);
    degreeWeighted<<<1024, 256>>>(i, a, b, n);
    embeddingLookup<<<blocks, 256>>>(a, i, b, n, 256);
    embeddingByBlocks<<<n, 128>>>(a, i, b, 1024);
    diagonals<<<blocks, 256>>>(u, i, v, w, n, 7);
}
