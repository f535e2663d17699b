// Breadth-first search by frontier masks, and a queue with warp-aggregated pushes.
#include <cooperative_groups.h>
#include <stdio.h>
namespace cg = cooperative_groups;

struct Node {
    int starting;
    int no_of_edges;
};

__global__ void bfsKernel(Node* g_graph_nodes, int* g_graph_edges, bool* g_graph_mask, bool* g_updating_graph_mask,
                          bool* g_graph_visited, int* g_cost, int no_of_nodes) {
    int tid = blockIdx.x * 512 + threadIdx.x;
    if (tid < no_of_nodes && g_graph_mask[tid]) {
        g_graph_mask[tid] = false;
        for (int i = g_graph_nodes[tid].starting; i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
            int id = g_graph_edges[i];
            if (!g_graph_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating_graph_mask[id] = true;
            }
        }
    }
}

__global__ void bfsUpdate(bool* mask, bool* updating, bool* visited, bool* over, int no_of_nodes) {
    int tid = blockIdx.x * 512 + threadIdx.x;
    if (tid < no_of_nodes && updating[tid]) {
        mask[tid] = true;
        visited[tid] = true;
        *over = true;
        updating[tid] = false;
    }
}

__device__ int atomicAggInc(int* counter) {
    cg::coalesced_group active = cg::coalesced_threads();
    int start = 0;
    if (active.thread_rank() == 0)
        start = atomicAdd(counter, active.size());
    return active.shfl(start, 0) + active.thread_rank();
}

__global__ void expandFrontier(const int* rows, const int* columns, const int* frontier, int frontierSize, int* distance,
                               int level, int* next, int* nextSize) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= frontierSize)
        return;
    int u = frontier[i];
    for (int e = rows[u]; e < rows[u + 1]; ++e) {
        int v = columns[e];
        if (atomicCAS(&distance[v], -1, level) == -1)
            next[atomicAggInc(nextSize)] = v;
    }
}

void bfs(Node* nodes, int* edges, bool* mask, bool* updating, bool* visited, bool* over, int* cost, int n) {
    int num_of_blocks = 1, num_of_threads_per_block = n;
    if (n > 512) {
        num_of_blocks = (n + 511) / 512;
        num_of_threads_per_block = 512;
    }
    dim3 grid(num_of_blocks, 1, 1), threads(num_of_threads_per_block, 1, 1);
    bool stop;
    do {
        stop = false;
        cudaMemcpy(over, &stop, sizeof(bool), cudaMemcpyHostToDevice);
        bfsKernel<<<grid, threads, 0>>>(nodes, edges, mask, updating, visited, cost, n);
        bfsUpdate<<<grid, threads, 0>>>(mask, updating, visited, over, n);
        cudaMemcpy(&stop, over, sizeof(bool), cudaMemcpyDeviceToHost);
    } while (stop);
}
