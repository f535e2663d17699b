// Steps of graph algorithms on compressed adjacency lists.
#include <climits>

using Vertex = int;

// kernelskill: launch countDegrees<<<12, 256>>>(edges=3000, source=rand[3000, 0..400], degree=zero[400])
__global__ void countDegrees(const Vertex* source, unsigned* degree, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges)
        atomicAdd(&degree[source[e]], 1u);
}

// kernelskill: launch rankPull<<<4, 128>>>(vertices=400, begin=iota[401], neighbour=rand[401, 0..400], rank=rand[400], share=rand[400])
__global__ void rankPull(const int* begin, const Vertex* neighbour, const float* share, float* rank, int vertices, float damping) {
    Vertex v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) {
        float sum = 0;
        for (int e = begin[v]; e < begin[v + 1]; ++e)
            sum += share[neighbour[e]];
        rank[v] = (1 - damping) / vertices + damping * sum;
    }
}

__global__ void rankShare(const float* rank, const unsigned* degree, float* share, int vertices) {
    Vertex v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) {
        unsigned d = degree[v];
        share[v] = d ? rank[v] / d : 0.0f;
    }
}

// kernelskill: launch hook<<<8, 256>>>(edges=2000, from=rand[2000, 0..300], to=rand[2000, 0..300], label=iota[300], changed=zero[1])
__global__ void hook(const Vertex* from, const Vertex* to, int* label, int* changed, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int a = from[e], b = to[e];
    if (a > b)
        atomicMin(&label[a], b);
    else if (b > a)
        atomicMin(&label[b], a);
    if (a != b)
        *changed = 1;
}

// kernelskill: launch compress<<<3, 128>>>(vertices=300, label=zero[300])
__global__ void compress(int* label, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < vertices) {
        int l = label[v];
        while (l != label[l])
            l = label[l];
        label[v] = l;
    }
}

// kernelskill: launch relax<<<8, 128>>>(edges=900, tail=rand[900, 0..200], head=rand[900, 0..200], weight=rand[900, 1..50], distance=rand[200, 0..1000], next=rand[200, 0..1000])
__global__ void relax(const Vertex* tail, const Vertex* head, const int* weight, const int* distance, int* next, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges && distance[tail[e]] != INT_MAX)
        atomicMin(next + head[e], distance[tail[e]] + weight[e]);
}

__global__ void frontierBits(const int* level, unsigned* bits, int current, int vertices) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = __ballot_sync(~0u, v < vertices && level[v] == current);
    if (threadIdx.x % 32 == 0 && v < vertices)
        bits[v / 32] = mine;
}

void step(const int* level, unsigned* bits, const float* rank, const unsigned* degree, float* share) {
    frontierBits<<<10, 128>>>(level, bits, 3, 1250);
    rankShare<<<(1250 + 255) / 256, 256>>>(rank, degree, share, 1250);
}
