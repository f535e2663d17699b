// Kernels that are wrong, each in one way, and next to them kernels that only look it.

__global__ void missingBarrier(float* out) { // 0
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void pastTheEnd(float* out, int n) { // 1
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = i;
}

__global__ void beforeTheStart(const float* in, float* out) { // 2
    out[threadIdx.x] = in[(int)threadIdx.x - 1];
}

__global__ void uninitialised(float* out) { // 3
    __shared__ float s[64];
    if (threadIdx.x < 32)
        s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void misaligned(const float* in, float* out) { // 4
    float2 pair = *reinterpret_cast<const float2*>(in + 1 + 2 * threadIdx.x);
    out[threadIdx.x] = pair.x + pair.y;
}

__global__ void divergentBarrier(float* out) { // 5
    if (threadIdx.x < 16)
        __syncthreads();
    else
        out[threadIdx.x] = 1;
    out[threadIdx.x] = 2;
    __syncthreads();
}

__global__ void sameFlag(const float* in, int* out) { // 6: benign, all writers write one value
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (in[threadIdx.x] > 0)
        found = 1;
    __syncthreads();
    out[threadIdx.x] = found;
}

__global__ void lostUpdates(int* out) { // 7: lanes of several warps store different values
    __shared__ int last;
    last = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = last;
}

__global__ void doubleBuffered(const float* in, float* out, int n) { // 8: right
    __shared__ float s[2][64];
    int t = threadIdx.x;
    s[0][t] = in[t];
    __syncthreads();
    for (int i = 1; i <= n; ++i) {
        s[i & 1][t] = s[(i - 1) & 1][(t + 1) % 64];
        __syncthreads();
    }
    out[t] = s[n & 1][t];
}

__global__ void blocksCollide(float* out) { // 9: every block stores its own number
    out[threadIdx.x] = blockIdx.x;
}

__global__ void warpPrivate(const float* in, float* out) { // 10: right, ordered by __syncwarp
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    out[t] = s[t ^ 1];
}

__global__ void warpUnordered(const float* in, float* out) { // 11: works in lock-step only
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    out[t] = s[t ^ 1];
}

__global__ void nullPointer(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x];
} // 12

__global__ void bytes(unsigned char* out) { // 13: neighbours write bytes of one word
    __shared__ unsigned char s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void lastBlock(const float* in, float* partial, unsigned* done,
                          float* out) { // 14: right
    __shared__ bool isLast;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        isLast = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i)
            sum += partial[i];
        *out = sum;
    }
}

__global__ void gather(const int* index, const float* in, float* out) { // 15
    out[threadIdx.x] = in[index[threadIdx.x]];
}

__global__ void shuffleWithoutPartners(float* out) { // 16
    float v = threadIdx.x;
    if (threadIdx.x < 16)
        v = __shfl_down_sync(0xffffffff, v, 8);
    else
        __syncthreads();
    out[threadIdx.x] = v;
}

__global__ void dividesByZero(const int* in, int* out) {
    out[threadIdx.x] = 7 / in[threadIdx.x];
} // 17

__global__ void overflowsStack(int* out, int n) { // 18
    struct Deep {
        static __attribute__((noinline)) int down(int n, volatile int* p) {
            volatile int local[1024];
            local[n & 1023] = n;
            return n == 0 ? *p : down(n - 1, local) + local[n & 1023];
        }
    };
    volatile int seed = n;
    out[threadIdx.x] = Deep::down(n, &seed);
}

__global__ void refuses(int* out) { // 19
    if (threadIdx.x == 0)
        ks_refuse("wgmma.mma_async@kernel.cu:12");
    out[threadIdx.x] = 0;
}

__global__ void dynamicOverrun(float* out) { // 20
    float* s = static_cast<float*>(ks_dynamic_shared());
    s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

extern "C" void ks_entry(void** a) {
    switch (*static_cast<int*>(a[0])) {
    case 0:
        return missingBarrier(*(float**)a[1]);
    case 1:
        return pastTheEnd(*(float**)a[1], *(int*)a[2]);
    case 2:
        return beforeTheStart(*(const float**)a[1], *(float**)a[2]);
    case 3:
        return uninitialised(*(float**)a[1]);
    case 4:
        return misaligned(*(const float**)a[1], *(float**)a[2]);
    case 5:
        return divergentBarrier(*(float**)a[1]);
    case 6:
        return sameFlag(*(const float**)a[1], *(int**)a[2]);
    case 7:
        return lostUpdates(*(int**)a[1]);
    case 8:
        return doubleBuffered(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 9:
        return blocksCollide(*(float**)a[1]);
    case 10:
        return warpPrivate(*(const float**)a[1], *(float**)a[2]);
    case 11:
        return warpUnordered(*(const float**)a[1], *(float**)a[2]);
    case 12:
        return nullPointer(*(const float**)a[1], *(float**)a[2]);
    case 13:
        return bytes(*(unsigned char**)a[1]);
    case 14:
        return lastBlock(*(const float**)a[1], *(float**)a[2], *(unsigned**)a[3], *(float**)a[4]);
    case 15:
        return gather(*(const int**)a[1], *(const float**)a[2], *(float**)a[3]);
    case 16:
        return shuffleWithoutPartners(*(float**)a[1]);
    case 17:
        return dividesByZero(*(const int**)a[1], *(int**)a[2]);
    case 18:
        return overflowsStack(*(int**)a[1], *(int*)a[2]);
    case 19:
        return refuses(*(int**)a[1]);
    case 20:
        return dynamicOverrun(*(float**)a[1]);
    }
}
