// C = A B, with one thread for each element of C.
__global__ void product(const float* a, const float* b, float* c, int rows, int columns, int terms) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ __align__(16) float aTile[16][20];
    __shared__ __align__(16) float bTile[16][16];
    const int thread = threadIdx.y * 16 + threadIdx.x;
    const int rowBegin = blockIdx.y * 16;
    const int columnBegin = blockIdx.x * 16;
    float sum = 0.0f;
    for (int k0 = 0; k0 < terms; k0 += 16) {
        {
            const int row = rowBegin + thread / 16;
            const int k = k0 + thread % 16;
            aTile[thread % 16][thread / 16] = row < rows && k < terms ? a[row * terms + k] : 0;
        }
        {
            const int column = columnBegin + thread % 16;
            const int k = k0 + thread / 16;
            bTile[thread / 16][thread % 16] = column < columns && k < terms ? b[k * columns + column] : 0;
        }
        __syncthreads();
        const int kEnd = k0 + min(terms - k0, 16);
        #pragma unroll 16
        for (int k = k0; k < kEnd; ++k)
            sum += aTile[k - k0][threadIdx.y] * bTile[k - k0][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
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
