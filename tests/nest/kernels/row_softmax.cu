__global__ void row_softmax_thread(const float* x, float* y, int m, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= m)
        return;
    float top = x[r * n];
    for (int j = 1; j < n; ++j)
        top = fmaxf(top, x[r * n + j]);
    float sum = 0.0f;
    for (int j = 0; j < n; ++j)
        sum += expf(x[r * n + j] - top);
    for (int j = 0; j < n; ++j)
        y[r * n + j] = expf(x[r * n + j] - top) / sum;
}

__global__ void row_softmax_rows(const float* x, float* y, int m, int n) {
    for (auto r = blockIdx.x * blockDim.x + threadIdx.x; r < m; r += gridDim.x * blockDim.x) {
        const float* in = x + r * n;
        float* out = y + r * n;
        float top = *in;
        for (int j = 1; j < n; ++j) {
            if (in[j] > top)
                top = in[j];
        }
        float sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += expf(in[j] - top);
        for (int j = 0; j < n; ++j)
            out[j] = expf(in[j] - top) / sum;
    }
}

__device__ float largest(const float* row, int n) {
    float top = row[0];
    for (int j = 1; j < n; ++j)
        top = max(top, row[j]);
    return top;
}

__global__ void row_softmax_called(const float* x, float* y, int m, int n) {
    const size_t r = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (r < m) {
        const float* row = &x[r * n];
        float top = largest(row, n);
        float sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += __expf(row[j] - top);
        float* to = &y[r * n];
        for (int j = 0; j < n; ++j)
            to[j] = __expf(row[j] - top) / sum;
    }
}
