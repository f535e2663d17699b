__global__ void column_sum_indexed(const double* x, double* y, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        double sum = 0;
        for (int i = 0; i < m; ++i)
            sum += x[i * n + j];
        y[j] = sum;
    }
}

__global__ void column_sum_moving(const double* x, double* y, int m, int n) {
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) {
        const double* p = x + j;
        double sum = 0;
        for (int i = 0; i < m; ++i, p += n)
            sum += *p;
        y[j] = sum;
    }
}

__global__ void column_sum_offset(const double* x, double* y, int m, int n) {
    const int j = threadIdx.x + blockDim.x * blockIdx.x;
    if (j >= n)
        return;
    double sum = 0;
    int offset = j;
    int i = 0;
    while (i < m) {
        sum += x[offset];
        offset += n;
        ++i;
    }
    y[j] = sum;
}
