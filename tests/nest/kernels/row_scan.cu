__global__ void row_scan_indexed(const float* x, float* y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j) {
            sum += x[i * n + j];
            y[i * n + j] = sum;
        }
    }
}

__global__ void row_scan_index(const float* x, float* y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    int at = i * n;
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) {
        sum += x[at];
        y[at] = sum;
        at++;
    }
}

__global__ void row_scan_ends(const float* x, float* y, int m, int n) {
    const auto i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    float* to = y + i * n;
    float sum = 0.0f;
    for (const float* p = x + i * n; p != x + i * n + n; ++p) {
        sum += *p;
        *to++ = sum;
    }
}
