// y = x A, with one thread for each column.
__global__ void vecmat(const float* a, const float* x, float* y, int rows, int columns) {
    constexpr int parts = 16;
    __shared__ float partialSum[parts][32];
    const int part = threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (column < columns) {
        for (int row = part; row < rows; row += parts)
            sum += a[row * columns + column] * x[row];
        partialSum[part][threadIdx.x] = sum;
    }
    __syncthreads();
    if (column < columns && part == 0) {
        sum = partialSum[0][threadIdx.x];
        for (int other = 1; other < parts; ++other)
            sum += partialSum[other][threadIdx.x];
        y[column] = sum;
    }
}

void run(int rows, int columns) {
    float *a, *x, *y;
    cudaMalloc(&a, rows * columns * sizeof(float));
    cudaMalloc(&x, rows * sizeof(float));
    cudaMalloc(&y, columns * sizeof(float));
    vecmat<<<(columns + 255) / 256 * 8, dim3(32, 16)>>>(a, x, y, rows, columns);
}
