// The sums of rows, with one thread for each row, and the largest of each block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
__global__ void rowSums(const float* a, float* sums, float* largest, int rows, int columns) {
    __shared__ float found[128];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (row < rows) {
        const auto lanes = cooperative_groups::coalesced_threads();
        const int lane = lanes.thread_rank();
        const int width = lanes.size();
        for (int turn = 0; turn < width; ++turn) {
            const auto rowRow = lanes.shfl(row, turn);
            float rowSum = 0.0f;
            for (int column = lane; column < columns; column += width)
                rowSum += a[rowRow * columns + column];
            rowSum = cooperative_groups::reduce(lanes, rowSum, cooperative_groups::plus<float>());
            if (lane == turn)
                sum += rowSum;
        }
        sums[row] = sum;
    }
    found[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 128; ++i)
            sum = fmaxf(sum, found[i]);
        largest[blockIdx.x] = sum;
    }
}

void run(int rows, int columns) {
    float *a, *sums, *largest;
    cudaMalloc(&a, rows * columns * sizeof(float));
    cudaMalloc(&sums, rows * sizeof(float));
    cudaMalloc(&largest, (rows + 127) / 128 * sizeof(float));
    rowSums<<<(rows + 127) / 128, 128>>>(a, sums, largest, rows, columns);
}
