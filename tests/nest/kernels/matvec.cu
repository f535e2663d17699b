__global__ void matvec_indexed(const float* a, const float* x, float* y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++)
            sum += a[i * n + j] * x[j];
        y[i] = sum;
    }
}

template <typename T>
__global__ void matvec_template(const T* a, const T* x, T* y, int m, int n) {
    const auto row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m)
        return;
    const T* line = a + (size_t)row * n;
    T sum = T(0);
    for (auto j = 0; j < n; ++j)
        sum = sum + line[j] * x[j];
    y[row] = sum;
}

__global__ void matvec_walking(const float* a, const float* x, float* y, int m, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += blockDim.x * gridDim.x) {
        const float* p = &a[i * n];
        const float* end = p + n;
        const float* q = x;
        float sum = 0.0f;
        while (p < end) {
            sum += *p * *q;
            p++;
            q++;
        }
        y[i] = sum;
    }
}

void launchMatvec(const float* a, const float* x, float* y, int m, int n) {
    matvec_template<float><<<(m + 255) / 256, 256>>>(a, x, y, m, n);
}
