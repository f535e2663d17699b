// C = A B, with one thread for each element of C.
__global__ void product(const float* a, const float* b, float* c, int rows, int columns, int terms) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns)
        return;
    float sum = 0.0f;
    for (int k = 0; k < terms; ++k)
        sum += a[row * terms + k] * b[k * columns + column];
    c[row * columns + column] = sum;
}

void multiply(int rows, int columns, int terms) {
    float *a, *b, *c;
    cudaMalloc(&a, rows * terms * sizeof(float));
    cudaMalloc(&b, terms * columns * sizeof(float));
    cudaMalloc(&c, rows * columns * sizeof(float));
    dim3 block(16, 16);
    dim3 grid((columns + 15) / 16, (rows + 15) / 16);
    product<<<grid, block>>>(a, b, c, rows, columns, terms);
}
