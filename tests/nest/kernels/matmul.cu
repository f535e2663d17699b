__global__ void matmul_plane(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float acc = 0.0f;
        for (int p = 0; p < k; ++p)
            acc += a[row * k + p] * b[p * n + col];
        c[row * n + col] = acc;
    }
}

__global__ void matmul_flat(const float* a, const float* b, float* c, int m, int n, int k) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= m * n)
        return;
    const int r = id / n;
    const int s = id - r * n;
    float acc = 0.0f;
    for (int p = 0; p < k; ++p)
        acc = fmaf(a[r * k + p], b[p * n + s], acc);
    c[r * n + s] = acc;
}

__device__ float element(const float* a, const float* b, int n, int k) {
    float sum = 0.0f;
    for (int p = 0; p < k; ++p)
        sum += a[p] * b[p * n];
    return sum;
}

__global__ void matmul_called(const float* a, const float* b, float* c, int m, int n, int k) {
    size_t col = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t row = (size_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m)
        return;
    if (col >= n)
        return;
    c[row * n + col] = element(a + row * k, b + col, n, k);
}
