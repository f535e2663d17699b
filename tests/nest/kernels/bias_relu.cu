#define ROW (blockIdx.y * blockDim.y + threadIdx.y)
#define COLUMN (blockIdx.x * blockDim.x + threadIdx.x)
#define AT(p, i, j) p[(i) * n + (j)]

__global__ void bias_relu_macro(const float* x, const float* b, float* y, int m, int n) {
    if (ROW < m && COLUMN < n) {
        AT(y, ROW, COLUMN) = fmaxf(AT(x, ROW, COLUMN) + b[COLUMN], 0.0f);
    }
}

__global__ void bias_relu_flat(const float* x, const float* b, float* y, int m, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= m * n)
        return;
    int j = t % n;
    int i = t / n;
    float v = x[i * n + j] + b[j];
    y[t] = v > 0.0f ? v : 0.0f;
}

__global__ void bias_relu_rows(const float* x, const float* b, float* y, int m, int n) {
    for (int row = blockIdx.x; row < m; row += gridDim.x) {
        const float* from = x + row * n;
        float* to = &y[row * n];
        for (unsigned c = threadIdx.x; c < static_cast<unsigned>(n); c += blockDim.x) {
            float v = from[c] + b[c];
            if (v < 0.0f)
                v = 0.0f;
            to[c] = v;
        }
    }
}
