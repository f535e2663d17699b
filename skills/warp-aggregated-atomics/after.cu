// Keeps the positive elements of an array: each takes its place by an atomic on the size.
#include <cuda_runtime.h>

__global__ void compact(const float* in, float* out, int* size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // The block's threads take their places among each other; one atomic a block updates size.
    __shared__ int warpStarts[8];
    __shared__ int blockStart;
    bool takesPlace = false;
    float v = 0.0f;
    if (i < n) {
        v = in[i];
        if (v > 0.0f) {
            takesPlace = true;
        }
    }
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const unsigned int takers = __ballot_sync(0xffffffff, takesPlace);
    if (lane == 0)
        warpStarts[warp] = __popc(takers);
    __syncthreads();
    if (threadIdx.x == 0) {
        int count = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            const int ofWarp = warpStarts[w];
            warpStarts[w] = count;
            count += ofWarp;
        }
        blockStart = atomicAdd(size, count);
    }
    __syncthreads();
    if (takesPlace) {
        const int place = warpStarts[warp] + __popc(takers & ((1u << lane) - 1));
        int at = blockStart + place;
        out[at] = v;
    }
}

void launchCompact(const float* in, float* out, int* size, int n) {
    compact<<<(n + 255) / 256, 256>>>(in, out, size, n);
}
