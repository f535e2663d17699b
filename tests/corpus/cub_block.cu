// Block-wide collectives from CUB.
#include <cub/cub.cuh>
template <int BLOCK_THREADS, int ITEMS> __global__ void blockSumKernel(const int* in, int* out) {
    typedef cub::BlockReduce<int, BLOCK_THREADS> BlockReduceT;
    typedef cub::BlockScan<int, BLOCK_THREADS> BlockScanT;
    __shared__ union {
        typename BlockReduceT::TempStorage reduce;
        typename BlockScanT::TempStorage scan;
    } temp;
    int items[ITEMS];
    for (int i = 0; i < ITEMS; ++i)
        items[i] = in[(blockIdx.x * BLOCK_THREADS + threadIdx.x) * ITEMS + i];
    int total = BlockReduceT(temp.reduce).Sum(items);
    __syncthreads();
    BlockScanT(temp.scan).ExclusiveSum(items, items);
    for (int i = 0; i < ITEMS; ++i)
        out[(blockIdx.x * BLOCK_THREADS + threadIdx.x) * ITEMS + i] = items[i];
    if (threadIdx.x == 0)
        out[gridDim.x * BLOCK_THREADS * ITEMS + blockIdx.x] = total;
}
void run(const int* in, int* out, int blocks) {
    blockSumKernel<128, 4><<<blocks, 128>>>(in, out);
    size_t bytes = 0;
    void* storage = nullptr;
    cub::DeviceReduce::Sum(storage, bytes, in, out, blocks);
    cudaMalloc(&storage, bytes);
    cub::DeviceReduce::Sum(storage, bytes, in, out, blocks);
}
