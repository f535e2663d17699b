// A sum over the whole grid in one cooperative launch.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
__global__ void gridReduce(const float* in, float* partial, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::grid_group grid = cg::this_grid();
    extern __shared__ double tmp[];
    tmp[block.thread_rank()] = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        tmp[block.thread_rank()] += in[i];
    cg::sync(block);
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    double v = tmp[block.thread_rank()];
    cg::sync(block);
    for (int i = tile.size() / 2; i > 0; i >>= 1)
        v += tile.shfl_down(v, i);
    if (tile.thread_rank() == 0)
        tmp[tile.meta_group_rank()] = v;
    block.sync();
    if (block.thread_rank() == 0) {
        double sum = 0;
        for (unsigned i = 0; i < tile.meta_group_size(); ++i)
            sum += tmp[i];
        partial[blockIdx.x] = sum;
    }
    cg::sync(grid);
    if (grid.thread_rank() == 0)
        for (unsigned b = 1; b < gridDim.x; b++)
            partial[0] += partial[b];
}
void launch(const float* in, float* out, int n) {
    int blocks = 0, threads = 256;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, gridReduce, threads, threads * sizeof(double));
    void* args[] = {(void*)&in, (void*)&out, (void*)&n};
    cudaLaunchCooperativeKernel((void*)gridReduce, dim3(blocks), dim3(threads), args, threads * sizeof(double), NULL);
}
