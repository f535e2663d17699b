// Kernels whose cost is known by heart.

__global__ void copyFloat(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void columns(const float* in, float* out, int pitch) {
    out[threadIdx.x] = in[threadIdx.x * pitch];
}

__global__ void copyFloat4(const float4* in, float4* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

template <int PITCH>
__device__ void transpose(const float* in, float* out, int n) {
    __shared__ float tile[32][PITCH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void halfTheLanes(const float* in, float* out) {
    int t = threadIdx.x;
    if (t & 1)
        out[t] = in[t] * 2;
    else
        out[t] = in[t + 64] + 1;
}

__global__ void uniformLoop(const float* in, float* out, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += in[i * blockDim.x + threadIdx.x];
    out[threadIdx.x] = sum;
}

__global__ void contended(int* bins) {
    atomicAdd(&bins[threadIdx.x / 8], 1);
}

__global__ void sharedVectors(float4* out) {
    __shared__ float4 s[32];
    s[threadIdx.x] = make_float4(1, 2, 3, 4);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void unevenLoops(const float* in, float* out, int n) {
    float sum = 0;
    for (int i = 0; i < (int)threadIdx.x * n; ++i)
        sum += in[i];
    out[threadIdx.x] = sum;
}

extern "C" void ks_entry(void** a) {
    switch (*static_cast<int*>(a[0])) {
    case 0:
        return copyFloat(*(const float**)a[1], *(float**)a[2]);
    case 1:
        return columns(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 2:
        return copyFloat4(*(const float4**)a[1], *(float4**)a[2]);
    case 3:
        return transpose<32>(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 4:
        return transpose<33>(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 5:
        return halfTheLanes(*(const float**)a[1], *(float**)a[2]);
    case 6:
        return uniformLoop(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 7:
        return contended(*(int**)a[1]);
    case 8:
        return sharedVectors(*(float4**)a[1]);
    case 9:
        return unevenLoops(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    }
}
