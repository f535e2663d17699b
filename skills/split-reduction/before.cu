// y = x A, with one thread for each column.
__global__ void vecmat(const float* a, const float* x, float* y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0f;
        for (int row = 0; row < rows; ++row)
            sum += a[row * columns + column] * x[row];
        y[column] = sum;
    }
}

void run(int rows, int columns) {
    float *a, *x, *y;
    cudaMalloc(&a, rows * columns * sizeof(float));
    cudaMalloc(&x, rows * sizeof(float));
    cudaMalloc(&y, columns * sizeof(float));
    vecmat<<<(columns + 255) / 256, 256>>>(a, x, y, rows, columns);
}
