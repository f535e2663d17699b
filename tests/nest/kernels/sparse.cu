__global__ void sparse_indexed(const int* ptr, const int* col, const float* val, const float* x,
                               float* y, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float sum = 0.0f;
        for (int j = ptr[i]; j < ptr[i + 1]; ++j)
            sum += val[j] * x[col[j]];
        y[i] = sum;
    }
}

__global__ void sparse_bounds(const int* ptr, const int* col, const float* val, const float* x,
                              float* y, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    const int begin = ptr[i];
    const int end = ptr[i + 1];
    float sum = 0.0f;
    for (int j = begin; j < end; j++) {
        const int c = col[j];
        sum += val[j] * x[c];
    }
    y[i] = sum;
}

__global__ void sparse_strided(const int* ptr, const int* col, const float* val, const float* x,
                               float* y, int m) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < m; i += blockDim.x * gridDim.x) {
        const int* range = ptr + i;
        float sum = 0.0f;
        for (int j = range[0]; j < range[1]; ++j)
            sum += val[j] * __ldg(&x[col[j]]);
        y[i] = sum;
    }
}
