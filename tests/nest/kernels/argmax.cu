__global__ void argmax_indexed(const float* x, int* best, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        int where = 0;
        float top = x[i * n];
        for (int j = 1; j < n; ++j) {
            if (x[i * n + j] > top) {
                top = x[i * n + j];
                where = j;
            }
        }
        best[i] = where;
    }
}

__global__ void argmax_row(const float* x, int* best, int m, int n) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    const float* row = x + i * n;
    float top = row[0];
    int where = 0;
    for (int j = 1; j < n; ++j) {
        const float value = row[j];
        where = value > top ? j : where;
        top = value > top ? value : top;
    }
    best[i] = where;
}

__global__ void argmax_strided(const float* x, int* best, int m, int n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += gridDim.x * blockDim.x) {
        float top = *(x + i * n);
        best[i] = 0;
        for (size_t j = 1; j < n; ++j) {
            float value = *(x + i * n + j);
            if (!(value > top))
                continue;
            top = value;
            best[i] = j;
        }
    }
}
