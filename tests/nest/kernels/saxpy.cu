__global__ void saxpy_guarded(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

__global__ void saxpy_early(float a, const float* __restrict__ x, float* __restrict__ y, int n) {
    const auto i = static_cast<size_t>(threadIdx.x) + size_t(blockDim.x) * blockIdx.x;
    if (!(i < static_cast<size_t>(n)))
        return;
    y[i] += a * x[i];
}

__global__ void saxpy_strided(float a, const float* x, float* y, int n) {
    const int stride = gridDim.x * blockDim.x;
    for (int k = blockDim.x * blockIdx.x + threadIdx.x; k < n; k += stride) {
        const float* from = x + k;
        float* to = y;
        to += k;
        *to = a * *from + *to;
    }
}
