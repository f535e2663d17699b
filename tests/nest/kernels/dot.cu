__global__ void dot_atomic(const float* x, const float* y, float* result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(result, x[i] * y[i]);
}

__global__ void dot_strided(const float* x, const float* y, float* result, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i] * y[i];
    atomicAdd(result, sum);
}

__global__ void dot_warp(const float* x, const float* y, float* result, int n) {
    const size_t stride = (size_t)blockDim.x * gridDim.x;
    float sum = 0.0f;
    size_t i = (size_t)blockDim.x * blockIdx.x + threadIdx.x;
    while (i < n) {
        sum = sum + x[i] * y[i];
        i += stride;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(&result[0], sum);
}
