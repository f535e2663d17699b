// y = A x, with one thread for each row.
__global__ void matvec(const float* a, const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int column = lane; column < columns; column += 32)
        sum += a[row * columns + column] * x[column];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

void run(int rows, int columns) {
    float *a, *x, *y;
    cudaMalloc(&a, rows * columns * sizeof(float));
    cudaMalloc(&x, columns * sizeof(float));
    cudaMalloc(&y, rows * sizeof(float));
    matvec<<<(rows + 127) / 128 * 32, 128>>>(a, x, y, rows, columns);
}
