__global__ void layernorm_indexed(const float* x, const float* g, float* y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float mean = 0.0f;
        for (int j = 0; j < n; ++j)
            mean += x[i * n + j];
        mean /= n;
        float var = 0.0f;
        for (int j = 0; j < n; ++j) {
            float d = x[i * n + j] - mean;
            var += d * d;
        }
        float scale = rsqrtf(var / n + 1e-5f);
        for (int j = 0; j < n; ++j)
            y[i * n + j] = (x[i * n + j] - mean) * scale * g[j];
    }
}

__global__ void layernorm_shifted(const float* x, const float* g, float* y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    x += i * n;
    y += i * n;
    float mean = 0.0f, var = 0.0f;
    for (int j = 0; j < n; ++j)
        mean += x[j];
    mean /= n;
    for (int j = 0; j < n; ++j)
        var += (x[j] - mean) * (x[j] - mean);
    float scale = rsqrtf(var / n + 1e-5f);
    for (int j = 0; j < n; ++j)
        y[j] = (x[j] - mean) * scale * g[j];
}

__global__ void layernorm_block(const float* x, const float* g, float* y, int m, int n) {
    __shared__ float total;
    const float* row = x + (size_t)blockIdx.x * n;
    if (threadIdx.x == 0)
        total = 0.0f;
    __syncthreads();
    float mine = 0.0f;
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        mine += row[j];
    atomicAdd(&total, mine);
    __syncthreads();
    float mean = total / n;
    __syncthreads();
    if (threadIdx.x == 0)
        total = 0.0f;
    __syncthreads();
    mine = 0.0f;
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        mine += (row[j] - mean) * (row[j] - mean);
    atomicAdd(&total, mine);
    __syncthreads();
    float scale = rsqrtf(total / n + 1e-5f);
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        y[blockIdx.x * n + j] = (row[j] - mean) * scale * g[j];
}
