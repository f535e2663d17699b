// Waits for one load after the other: searches, tables, trees.
#include <cuda_runtime.h>

// expert: memory-latency; shared-memory-staging; memory-level-parallelism
__global__ void lowerBounds(const int* sorted, int size, const int* queries, int* found, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int key = queries[i];
    int low = 0, high = size;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    found[i] = low;
}

// expert: memory-latency|divergence|memory-bandwidth; binary-search; shared-memory-staging
__global__ void findInterval(const float* edges, int count, const float* values, int* interval, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = values[i];
        int k = 0;
        while (k < count && edges[k] <= v)
            ++k;
        interval[i] = k;
    }
}

// expert: memory-latency|divergence|memory-bandwidth; binary-search; shared-memory-staging
__global__ void sampleSystematic(const double* cumulative, const double* u, const double* particles, double* resampled, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int index = -1;
        for (int x = 0; x < n; x++) {
            if (cumulative[x] >= u[i]) {
                index = x;
                break;
            }
        }
        if (index == -1)
            index = n - 1;
        resampled[i] = particles[index];
    }
}

// expert: memory-latency; binning; memory-level-parallelism
__global__ void probe(const unsigned* keys, const int* values, unsigned mask, const unsigned* queries, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const unsigned key = queries[i];
    unsigned slot = (key * 2654435761u) & mask;
    while (keys[slot] != key && keys[slot] != 0)
        slot = (slot + 1) & mask;
    out[i] = keys[slot] == key ? values[slot] : -1;
}

// expert: memory-latency; list-ranking; none
__global__ void chase(const int* next, const int* heads, int* tails, int hops, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = heads[i];
        for (int h = 0; h < hops; ++h)
            at = next[at];
        tails[i] = at;
    }
}

struct Node {
    float split;
    int left, right;
    int feature;
};

// expert: memory-latency; shared-memory-staging; structure-of-arrays
__global__ void walkTrees(const Node* nodes, const float* samples, int* leaves, int features, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = 0;
    while (nodes[at].left >= 0)
        at = samples[i * features + nodes[at].feature] < nodes[at].split ? nodes[at].left : nodes[at].right;
    leaves[i] = at;
}

// expert: memory-bandwidth|memory-latency|uncoalesced-access; shared-memory-staging; vectorized-access
__global__ void throughTable(const unsigned char* in, const float* table, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[in[i]];
}

// expert: memory-bandwidth|memory-latency|compute; shared-memory-tiling; register-tiling
__global__ void nearestNeighbour(const float* x, const float* y, const float* px, const float* py, int* nearest, int points, int queries) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= queries)
        return;
    float best = 1e30f;
    int at = 0;
    for (int p = 0; p < points; ++p) {
        const float dx = x[p] - px[q], dy = y[p] - py[q];
        const float d = dx * dx + dy * dy;
        if (d < best) {
            best = d;
            at = p;
        }
    }
    nearest[q] = at;
}

// expert: memory-latency|uncoalesced-access; binning; memory-level-parallelism
__global__ void randomWalk(const int* offsets, const int* targets, int* position, unsigned* state, int steps, int walkers) {
    const int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= walkers)
        return;
    int at = position[w];
    unsigned s = state[w];
    for (int k = 0; k < steps; ++k) {
        s = s * 1664525u + 1013904223u;
        const int begin = offsets[at], degree = offsets[at + 1] - begin;
        at = targets[begin + s % degree];
    }
    position[w] = at;
    state[w] = s;
}

// expert: memory-bandwidth|compute|memory-latency; shared-memory-tiling; constant-memory
__global__ void nearestCentre(const float* points, const float* centres, int* membership, int n, int clusters, int dims) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n)
        return;
    int best = 0;
    float least = 3.4e38f;
    for (int c = 0; c < clusters; ++c) {
        float distance = 0.f;
        for (int d = 0; d < dims; ++d) {
            const float difference = points[d * n + p] - centres[c * dims + d];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    membership[p] = best;
}

void searches(const int* sorted, const int* queries, int* found, const float* edges, const float* values, const double* u, const double* v,
              const double* w, double* resampled, const unsigned* keys, const unsigned* wanted, unsigned* state, const Node* nodes,
              const unsigned char* bytes, float* out, const float* x, const float* y, int n) {
    const int blocks = (n + 255) / 256;
    lowerBounds<<<blocks, 256>>>(sorted, n, queries, found, n);
    findInterval<<<blocks, 256>>>(edges, 1000, values, found, n);
    sampleSystematic<<<blocks, 256>>>(u, v, w, resampled, n);
    probe<<<blocks, 256>>>(keys, sorted, n - 1, wanted, found, n);
    chase<<<blocks, 256>>>(sorted, queries, found, 100, n);
    walkTrees<<<blocks, 256>>>(nodes, values, found, 16, n);
    throughTable<<<blocks, 256>>>(bytes, edges, out, n);
    nearestNeighbour<<<blocks, 256>>>(edges, values, x, y, found, n, n);
    randomWalk<<<blocks, 256>>>(sorted, queries, found, state, 100, n);
    nearestCentre<<<blocks, 256>>>(edges, values, found, n, 64, 16);
}
