// C = A B, with one thread for each element of C.
__global__ void product(const float* a, const float* b, float* c, int rows, int columns, int terms) {
    __shared__ __align__(16) float aTile[8][68];
    __shared__ __align__(16) float bTile[8][64];
    const int thread = threadIdx.y * 16 + threadIdx.x;
    const int rowBegin = blockIdx.y * 64;
    const int columnBegin = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < terms; k0 += 8) {
        #pragma unroll
        for (int offset = 0; offset < 512; offset += 256) {
            const int element = thread + offset;
            const int row = rowBegin + element / 8;
            const int k = k0 + element % 8;
            aTile[element % 8][element / 8] = row < rows && k < terms ? a[row * terms + k] : 0;
        }
        #pragma unroll
        for (int offset = 0; offset < 512; offset += 256) {
            const int element = thread + offset;
            const int column = columnBegin + element % 64;
            const int k = k0 + element / 64;
            bTile[element / 64][element % 64] = column < columns && k < terms ? b[k * columns + column] : 0;
        }
        __syncthreads();
        const int kEnd = k0 + min(terms - k0, 8);
        #pragma unroll 8
        for (int k = k0; k < kEnd; ++k) {
            float aValues[4];
            #pragma unroll
            for (int rowOffset = 0; rowOffset < 4; ++rowOffset)
                aValues[rowOffset] = aTile[k - k0][threadIdx.y * 4 + rowOffset];
            float bValues[4];
            #pragma unroll
            for (int columnOffset = 0; columnOffset < 4; ++columnOffset)
                bValues[columnOffset] = bTile[k - k0][threadIdx.x * 4 + columnOffset];
            #pragma unroll
            for (int rowOffset = 0; rowOffset < 4; ++rowOffset) {
                #pragma unroll
                for (int columnOffset = 0; columnOffset < 4; ++columnOffset)
                    sum[rowOffset][columnOffset] += aValues[rowOffset] * bValues[columnOffset];
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int rowOffset = 0; rowOffset < 4; ++rowOffset) {
        const int row = rowBegin + threadIdx.y * 4 + rowOffset;
        #pragma unroll
        for (int columnOffset = 0; columnOffset < 4; ++columnOffset) {
            const int column = columnBegin + threadIdx.x * 4 + columnOffset;
            if (row < rows && column < columns)
                c[row * columns + column] = sum[rowOffset][columnOffset];
        }
    }
}

void multiply(int rows, int columns, int terms) {
    float *a, *b, *c;
    cudaMalloc(&a, rows * terms * sizeof(float));
    cudaMalloc(&b, terms * columns * sizeof(float));
    cudaMalloc(&c, rows * columns * sizeof(float));
    dim3 block(16, 16);
    dim3 grid((columns + 15) / 16, (rows + 15) / 16);
    product<<<dim3((grid.x + 3) / 4, (grid.y + 3) / 4, grid.z), block>>>(a, b, c, rows, columns, terms);
}
