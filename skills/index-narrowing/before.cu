// Adds up the products of two tables along a flat index, with one thread for each chunk of it.
__global__ void weigh(const float* rows, const float* columns, float* sums, int chunks,
                      int width, int length) {
    size_t chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= chunks)
        return;
    float sum = 0.0f;
    size_t rest = chunk;
    for (int k = 0; k < length; ++k) {
        sum += columns[rest % width] * rows[rest / width];
        rest /= width;
    }
    sums[chunk] = sum;
}

void run(int chunks, int width, int length) {
    float *rows, *columns, *sums;
    cudaMalloc(&rows, chunks * sizeof(float));
    cudaMalloc(&columns, width * sizeof(float));
    cudaMalloc(&sums, chunks * sizeof(float));
    weigh<<<(chunks + 255) / 256, 256>>>(rows, columns, sums, chunks, width, length);
}
