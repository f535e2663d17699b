// y = A x, with one thread for each row.
__global__ void matvec(const float* a, const float* x, float* y, int m, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) {
        float sum = 0.0f;
        for (int j = 0; j < n; ++j)
            sum += a[j * m + i] * x[j];
        y[i] = sum;
    }
}

void run(int m, int n) {
    float *a, *x, *y;
    cudaMalloc(&a, m * n * sizeof(float));
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, m * sizeof(float));
    matvec<<<(m + 255) / 256, 256>>>(a, x, y, m, n);
}
