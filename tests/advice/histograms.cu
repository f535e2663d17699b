// Updates of shared places: histograms, scatters, counters, queues.
#include <cuda_runtime.h>

// expert: synchronization; atomics-privatization; warp-aggregated-atomics
__global__ void histogram256(const unsigned char* data, unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i]], 1u);
}

// expert: synchronization; atomics-privatization; warp-aggregated-atomics
__global__ void histogramMasked(const unsigned* keys, unsigned* bins, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(bins + (keys[i] & 63u), 1u);
}

#define NUM_BINS 128

// expert: synchronization; atomics-privatization; warp-aggregated-atomics
__global__ void histogramScaled(const float* values, int* counts, float low, float scale, int n) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < n) {
        int bin = (int)((values[tid] - low) * scale);
        bin = min(max(bin, 0), NUM_BINS - 1);
        atomicAdd(&counts[bin], 1);
    }
}

// expert: synchronization; warp-aggregated-atomics; atomics-privatization
__global__ void histogramShared(const unsigned char* data, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&bins[b], local[b]);
}

// expert: synchronization; atomics-privatization; segmented-reduction
__global__ void addToClusters(const float* points, const int* cluster, float* sums, int* members, int n, int dims) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    const int c = cluster[p];
    for (int d = 0; d < dims; ++d)
        atomicAdd(&sums[c * dims + d], points[d * n + p]);
    atomicAdd(&members[c], 1);
}

// expert: synchronization; warp-aggregated-atomics; block-reduction
__global__ void compactPositive(const float* in, float* out, int* size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = in[i];
        if (v > 0.f) {
            int at = atomicAdd(size, 1);
            out[at] = v;
        }
    }
}

// expert: synchronization; warp-aggregated-atomics; persistent-kernel
__global__ void pushNeighbours(const int* frontier, int frontierSize, const int* offsets, const int* targets, int* level, int depth,
                               int* next, int* nextSize) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= frontierSize)
        return;
    const int v = frontier[t];
    for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
        const int u = targets[e];
        if (atomicCAS(&level[u], -1, depth) == -1)
            next[atomicAdd(nextSize, 1)] = u;
    }
}

// expert: synchronization|uncoalesced-access; segmented-reduction; binning
__global__ void scatterAdd(const int* __restrict__ target, const float* __restrict__ weight, float* __restrict__ sums, int edges) {
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges)
        atomicAdd(&sums[target[e]], weight[e]);
}

// expert: synchronization; block-reduction; warp-aggregated-atomics
__global__ void boundingBox(const int* xs, const int* ys, int* box, int n) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMin(&box[0], xs[i]);
        atomicMin(&box[1], ys[i]);
        atomicMax(&box[2], xs[i]);
        atomicMax(&box[3], ys[i]);
    }
}

// expert: synchronization; block-reduction; warp-aggregated-atomics
__global__ void anyDifference(const float* a, const float* b, float tolerance, unsigned* different, int n) {
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        if (fabsf(a[i] - b[i]) > tolerance)
            atomicAdd(different, 1u);
}

// expert: synchronization; warp-aggregated-atomics; atomics-privatization
__global__ void countByType(const short* types, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    switch (types[i]) {
    case 0:
        atomicAdd(&counts[0], 1);
        break;
    case 1:
        atomicAdd(&counts[1], 1);
        break;
    default:
        atomicAdd(&counts[2], 1);
    }
}

// expert: synchronization; block-reduction; warp-aggregated-atomics
__global__ void energyOfBlocks(const float* energies, float* blockEnergy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&blockEnergy[blockIdx.x], energies[i] * energies[i]);
}

// expert: synchronization; atomics-privatization; binning
__global__ void voteForLines(const unsigned char* edges, int* votes, const float* cosines, const float* sines, int width, int height,
                             int angles, int radii) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height || !edges[y * width + x])
        return;
    for (int a = 0; a < angles; ++a) {
        int r = (int)(x * cosines[a] + y * sines[a]) + radii / 2;
        atomicAdd(&votes[a * radii + r], 1);
    }
}

void histograms(const unsigned char* bytes, const unsigned* keys, const float* values, const short* types, const int* ints,
                const int* moreInts, float* floats, float* sums, unsigned* bins, int* counts, int* sizes, int n, int width,
                int height) {
    const int blocks = (n + 255) / 256;
    histogram256<<<blocks, 256>>>(bytes, bins, n);
    histogramMasked<<<1024, 256>>>(keys, bins, n);
    histogramScaled<<<blocks, 256>>>(values, counts, 0.f, 128.f, n);
    histogramShared<<<264, 256>>>(bytes, bins, n);
    addToClusters<<<blocks, 256>>>(values, ints, sums, counts, n, 8);
    compactPositive<<<blocks, 256>>>(values, floats, counts, n);
    pushNeighbours<<<blocks, 256>>>(ints, n, moreInts, moreInts, counts, 1, sizes, sizes);
    scatterAdd<<<blocks, 256>>>(ints, values, sums, n);
    boundingBox<<<blocks, 256>>>(ints, moreInts, counts, n);
    anyDifference<<<1024, 256>>>(values, floats, 1e-5f, bins, n);
    countByType<<<blocks, 256>>>(types, counts, n);
    energyOfBlocks<<<blocks, 256>>>(values, sums, n);
    voteForLines<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(bytes, counts, values, floats, width, height, 180,
                                                                                4096);
}
