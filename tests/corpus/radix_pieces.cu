// One digit of a radix sort: warp-level ranks by match, block offsets by ballot.
#include <cstdint>
constexpr int RADIX_BITS = 4, RADIX = 1 << RADIX_BITS;
__global__ void digitCounts(const uint32_t* keys, uint32_t* counts, int n, int shift) {
    __shared__ uint32_t local[RADIX];
    if (threadIdx.x < RADIX)
        local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint32_t digit = (keys[i] >> shift) & (RADIX - 1);
        unsigned peers = __match_any_sync(__activemask(), digit);
        int leader = __ffs(peers) - 1;
        if ((threadIdx.x & 31) == leader)
            atomicAdd(&local[digit], __popc(peers));
    }
    __syncthreads();
    if (threadIdx.x < RADIX)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}
__global__ void splitByBit(const uint32_t* in, uint32_t* out, int bit) {
    unsigned lane = threadIdx.x & 31;
    uint32_t key = in[blockIdx.x * 32 + lane];
    unsigned ones = __ballot_sync(0xffffffffu, (key >> bit) & 1);
    unsigned below = (1u << lane) - 1;
    int zeros = 32 - __popc(ones);
    int place = (key >> bit) & 1 ? zeros + __popc(ones & below) : __popc(~ones & below);
    out[blockIdx.x * 32 + place] = key;
}
void digit(const uint32_t* keys, uint32_t* out, uint32_t* counts, int n) {
    digitCounts<<<(n + 255) / 256, 256>>>(keys, counts, n, 4);
    splitByBit<<<n / 32, 32>>>(keys, out, 3);
}
