// Lengths of 512 vectors, with one thread for each.
__global__ void lengths(const float* a, float* length, int columns) {
    __shared__ float partialSum[32];
    int row = blockIdx.x;
    if (row >= 512)
        return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < columns; column += blockDim.x)
        sum += a[row * columns + column] * a[row * columns + column];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        partialSum[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = partialSum[0];
    for (int warp = 1; warp < blockDim.x / 32; ++warp)
        sum += partialSum[warp];
    if (threadIdx.x == 0)
        length[row] = sqrtf(sum);
}

void run(int columns) {
    float *a, *length;
    cudaMalloc(&a, 512 * columns * sizeof(float));
    cudaMalloc(&length, 512 * sizeof(float));
    lengths<<<4 * 128, 128>>>(a, length, columns);
}
