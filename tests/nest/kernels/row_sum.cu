__global__ void row_sum_thread(const float* x, float* y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    float sum = 0.0f;
    for (int j = 0; j < n; ++j)
        sum += x[i * n + j];
    y[i] = sum;
}

__global__ void row_sum_backwards(const float* x, float* y, int m, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (unsigned)m) {
        const float* row = x + (long long)i * n;
        float sum = 0.0f;
        for (int j = n - 1; j >= 0; j--)
            sum += row[j];
        y[i] = sum;
    }
}

__global__ void row_sum_block(const float* x, float* y, int m, int n) {
    __shared__ float part[256];
    const int t = threadIdx.x;
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int j = t; j < n; j += blockDim.x)
        sum += x[row * n + j];
    part[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        y[row] = part[0];
}
