// y = A x, with one thread for each row.
__global__ void matvec(const float* a, const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column)
        sum += a[row * columns + column] * x[column];
    y[row] = sum;
}

void run(int rows, int columns) {
    float *a, *x, *y;
    cudaMalloc(&a, rows * columns * sizeof(float));
    cudaMalloc(&x, columns * sizeof(float));
    cudaMalloc(&y, rows * sizeof(float));
    matvec<<<(rows + 127) / 128, 128>>>(a, x, y, rows, columns);
}
