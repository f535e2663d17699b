__global__ void transpose_plane(const float* in, float* out, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= n || i >= m)
        return;
    out[j * m + i] = in[i * n + j];
}

__global__ void transpose_flat(const float* in, float* out, int m, int n) {
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t < (size_t)m * n) {
        size_t i = t / n, j = t % n;
        out[j * m + i] = in[t];
    }
}

__global__ void transpose_columns(const float* in, float* out, int m, int n) {
    int j = threadIdx.x + blockIdx.x * blockDim.x;
    if (j < n) {
        const float* p = in + j;
        float* q = out + j * m;
        for (int i = 0; i < m; ++i) {
            *q++ = *p;
            p += n;
        }
    }
}
