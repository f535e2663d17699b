// Global alignment scores along anti-diagonals of tiles.
#define BLOCK_SIZE 16
__device__ __host__ int maximum(int a, int b, int c) {
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}
__global__ void needle(const int* reference, int* matrix, int cols, int penalty, int i) {
    int bx = blockIdx.x, tx = threadIdx.x;
    int b_index_x = bx, b_index_y = i - 1 - bx;
    int index_nw = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx;
    int index = index_nw + cols + 1, index_n = index_nw + 1, index_w = index_nw + cols - tx;
    __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
    if (tx == 0)
        temp[tx][0] = matrix[index_nw];
    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        ref[ty][tx] = reference[index + cols * ty];
    __syncthreads();
    temp[tx + 1][0] = matrix[index_w + cols * tx];
    __syncthreads();
    temp[0][tx + 1] = matrix[index_n];
    __syncthreads();
    for (int m = 0; m < 2 * BLOCK_SIZE - 1; m++) {
        bool active = m < BLOCK_SIZE ? tx <= m : tx < 2 * BLOCK_SIZE - 1 - m;
        if (active) {
            int x = m < BLOCK_SIZE ? tx + 1 : tx + m - BLOCK_SIZE + 2;
            int y = m < BLOCK_SIZE ? m - tx + 1 : BLOCK_SIZE - tx;
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < BLOCK_SIZE; ty++)
        matrix[index + ty * cols] = temp[ty + 1][tx + 1];
}
void align(const int* reference, int* matrix, int max_cols) {
    int block_width = (max_cols - 1) / BLOCK_SIZE;
    dim3 dimGrid, dimBlock(BLOCK_SIZE, 1);
    dimGrid.y = 1;
    for (int i = 1; i <= block_width; i++) {
        dimGrid.x = i;
        needle<<<dimGrid, dimBlock>>>(reference, matrix, max_cols, 10, i);
    }
}
