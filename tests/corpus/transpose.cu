// Transposes: naive, through shared memory, and with padding against bank conflicts.
#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void copyRows(float* odata, const float* idata, int width, int height) {
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = idata[(y + j) * width + x];
}

__global__ void transposeNaive(float* odata, const float* idata, int width, int height) {
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[x * height + y + j] = idata[(y + j) * width + x];
}

__global__ void transposeCoalesced(float* odata, const float* idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transposeNoBankConflicts(float* odata, const float* idata, int width, int height) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
    const int width = 256, height = 128;
    float *in, *out;
    cudaMalloc((void**)&in, width * height * sizeof(float));
    cudaMalloc((void**)&out, width * height * sizeof(float));
    dim3 grid(width / TILE_DIM, height / TILE_DIM), threads(TILE_DIM, BLOCK_ROWS);
    void (*kernel)(float*, const float*, int, int) = &copyRows;
    for (int k = 0; k < 4; ++k) {
        switch (k) {
        case 1: kernel = &transposeNaive; break;
        case 2: kernel = &transposeCoalesced; break;
        case 3: kernel = &transposeNoBankConflicts; break;
        }
        kernel<<<grid, threads>>>(out, in, width, height);
    }
    transposeNaive<<<grid, threads>>>(out, in, width, height);
    transposeCoalesced<<<grid, threads>>>(out, in, width, height);
    transposeNoBankConflicts<<<grid, threads>>>(out, in, width, height);
    copyRows<<<grid, threads>>>(out, in, width, height);
    cudaDeviceSynchronize();
}
