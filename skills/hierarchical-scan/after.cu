// Prefix sums of the rows of a matrix, with one thread for each row.
__global__ void prefixSums(const float* in, float* out, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int column = lane; column - lane < columns; column += 32) {
        if (lane > 0)
            sum = 0.0f;
        if (column < columns)
            sum += in[row * columns + column];
        for (int offset = 1; offset < 32; offset *= 2) {
            const float lower = __shfl_up_sync(0xffffffff, sum, offset);
            if (lane >= offset)
                sum += lower;
        }
        if (column < columns)
            out[row * columns + column] = sum;
        sum = __shfl_sync(0xffffffff, sum, 31);
    }
}

void run(int rows, int columns) {
    float *in, *out;
    cudaMalloc(&in, rows * columns * sizeof(float));
    cudaMalloc(&out, rows * columns * sizeof(float));
    prefixSums<<<(rows + 127) / 128 * 32, 128>>>(in, out, rows, columns);
}
