// Bits: codes that keep neighbours near, counts, votes of a warp.
#include <cstdint>

namespace bits
{

__device__ inline uint32_t spread(uint32_t v)
{
    v &= 0x3ff;
    v = (v | (v << 16)) & 0x30000ff;
    v = (v | (v << 8)) & 0x300f00f;
    v = (v | (v << 4)) & 0x30c30c3;
    v = (v | (v << 2)) & 0x9249249;
    return v;
}

__global__ void morton(const uint32_t *x, const uint32_t *y, const uint32_t *z, uint32_t *code, std::uint32_t n)
{
    auto const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        code[i] = spread(x[i]) | (spread(y[i]) << 1) | (spread(z[i]) << 2);
}

__global__ void grayCode(uint32_t *v, uint32_t n)
{
    for (auto i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        v[i] = v[i] ^ (v[i] >> 1);
}

__global__ void hammingDistances(const uint64_t *a, const uint64_t *b, int *distance, int n, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
    {
        int d = 0;
        for (int w = 0; w < words; ++w)
            d += __popcll(a[i * words + w] ^ b[w]);
        distance[i] = d;
    }
}

// Each warp writes what its lanes keep, side by side, and learns by one atomic where.
__global__ void compactPositive(const int *in, int n, int *out, int *size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    bool keep = i < n && in[i] > 0;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    int base = 0;
    if (lane == 0 && votes)
        base = atomicAdd(size, __popc(votes));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep)
        out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

__global__ void highestBit(const unsigned *v, int *where, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        where[i] = v[i] == 0 ? -1 : 31 - __clz(v[i]);
}

__global__ void reverseAll(uint32_t *v, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n) { v[i] = __brev(v[i]); }
}

__global__ void transposeBits(const uint32_t *in, uint32_t *out, int words)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (warp * 32 >= words)
        return;
    uint32_t row = in[warp * 32 + lane];
    uint32_t column = 0;
    for (int b = 0; b < 32; ++b)
    {
        uint32_t votes = __ballot_sync(~0u, (row >> b) & 1u);
        if (lane == b)
            column = votes;
    }
    out[warp * 32 + lane] = column;
}

} // namespace bits

int main()
{
    using namespace bits;
    uint32_t *x, *code;
    uint64_t *a;
    int *d;
    cudaMalloc(&x, 8192 * 4);
    cudaMalloc(&code, 8192 * 4);
    cudaMalloc(&a, 8192 * 8);
    cudaMalloc(&d, 8192 * 4);
    morton<<<32, 256>>>(x, x, x, code, 8000u);
    grayCode<<<6, 256>>>(x, 8000u);
    hammingDistances<<<8, 128>>>(a, a, d, 1000, 8);
    compactPositive<<<20, 128>>>(d, 2500, d, d + 4000);
    highestBit<<<32, 256>>>(x, d, 8000);
    reverseAll<<<32, 256>>>(x, 8000);
    transposeBits<<<8, 128>>>(x, code, 1024);
    return cudaDeviceSynchronize();
}
