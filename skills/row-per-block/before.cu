// Lengths of 512 vectors, with one thread for each.
__global__ void lengths(const float* a, float* length, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= 512)
        return;
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column)
        sum += a[row * columns + column] * a[row * columns + column];
    length[row] = sqrtf(sum);
}

void run(int columns) {
    float *a, *length;
    cudaMalloc(&a, 512 * columns * sizeof(float));
    cudaMalloc(&length, 512 * sizeof(float));
    lengths<<<4, 128>>>(a, length, columns);
}
