// 256-bin histogram: shared-memory counters, then one global atomic a bin and block.
typedef unsigned int uint;
typedef unsigned char uchar;
#define BINS 256

__global__ void histogramGlobal(const uchar* data, uint* histogram, uint count) {
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&histogram[data[i]], 1u);
}

__global__ void histogramShared(const uint* data, uint* histogram, uint words) {
    __shared__ uint counts[BINS];
    for (uint i = threadIdx.x; i < BINS; i += blockDim.x)
        counts[i] = 0;
    __syncthreads();
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x) {
        uint word = data[i];
        atomicAdd(counts + ((word >> 0) & 0xFFU), 1);
        atomicAdd(counts + ((word >> 8) & 0xFFU), 1);
        atomicAdd(counts + ((word >> 16) & 0xFFU), 1);
        atomicAdd(counts + ((word >> 24) & 0xFFU), 1);
    }
    __syncthreads();
    for (uint i = threadIdx.x; i < BINS; i += blockDim.x)
        if (counts[i])
            atomicAdd(&histogram[i], counts[i]);
}

extern "C" void histogram256(uint* d_histogram, void* d_data, uint byteCount) {
    cudaMemset(d_histogram, 0, BINS * sizeof(uint));
    histogramShared<<<240, 192>>>((const uint*)d_data, d_histogram, byteCount / sizeof(uint));
    histogramGlobal<<<240, 192>>>((const uchar*)d_data, d_histogram, byteCount);
}
