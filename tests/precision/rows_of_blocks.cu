// Rows of single threads in kernels whose threads have more to do than a row: they meet at barriers, share rows of a block's own,
// or are launched by another grid than one of rows.

/// The squared distance of each point from its block's centre, and the block's smallest.
__global__ void nearestOfBlock(const float* points, const float* centres, float* distances,
                               float* nearest, int points_per_block, int dimensions) {
    __shared__ float found[96];
    int point = blockIdx.x * points_per_block + threadIdx.x;
    float distance = 3.0e38f;
    if (threadIdx.x < points_per_block) {
        distance = 0.0f;
        for (int d = 0; d < dimensions; ++d) {
            float away = points[point * dimensions + d] - centres[blockIdx.x * dimensions + d];
            distance += away * away;
        }
        distances[point] = distance;
    }
    found[threadIdx.x] = distance;
    __syncthreads();
    if (threadIdx.x == 0) {
        float least = found[0];
        for (int i = 1; i < 96; ++i)
            least = fminf(least, found[i]);
        nearest[blockIdx.x] = least;
    }
}

/// Sums of the rows of a sparse matrix, whose rows every other block has.
template <typename T>
__global__ void halfOfRows(const int* starts, const T* values, T* sums, int rows, int parity) {
    int row = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + parity;
    int entry;
    T value;
    if (row >= rows)
        return;
    T sum = 0;
    for (entry = starts[row]; entry < starts[row + 1]; entry++) {
        value = values[entry];
        sum += value * value;
    }
    sums[row] = sum;
}

/// Means of channels, as a library has it: a grid of two axes for one index, and sums in memory.
__global__ void channelMeans(const float* x, int batch, int channels, int spatial, float* mean) {
    float scale = 1.f / (batch * spatial);
    int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
    if (i >= channels)
        return;
    int b, s;
    mean[i] = 0;
    for (b = 0; b < batch; ++b) {
        for (s = 0; s < spatial; ++s) {
            int index = b * channels * spatial + i * spatial + s;
            mean[i] += x[index];
        }
    }
    mean[i] *= scale;
}

/// Parities of keys, by a loop around a compare-and-swap.
__device__ unsigned toggle(unsigned* place, unsigned bits) {
    unsigned old = *place, assumed;
    do {
        assumed = old;
        old = atomicCAS(place, assumed, assumed ^ bits);
    } while (assumed != old);
    return old;
}

__global__ void parities(const unsigned* keys, unsigned* parity, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        toggle(&parity[keys[i] & 63], 1u << (keys[i] >> 6 & 31));
}

void run(int blocks, int dimensions, int rows, int entries, int n) {
    float *points, *centres, *distances, *nearest, *sums, *values;
    int* starts;
    unsigned *keys, *parity;
    cudaMalloc(&points, blocks * 90 * dimensions * sizeof(float));
    cudaMalloc(&centres, blocks * dimensions * sizeof(float));
    cudaMalloc(&distances, blocks * 90 * sizeof(float));
    cudaMalloc(&nearest, blocks * sizeof(float));
    nearestOfBlock<<<blocks, 96>>>(points, centres, distances, nearest, 90, dimensions);
    cudaMalloc(&starts, (rows + 1) * sizeof(int));
    cudaMalloc(&values, entries * sizeof(float));
    cudaMalloc(&sums, rows * sizeof(float));
    halfOfRows<float> << <(rows / 2 + 128) / 128, 128>> > (starts, values, sums, rows, 1);
    cudaMalloc(&keys, n * sizeof(unsigned));
    cudaMalloc(&parity, 64 * sizeof(unsigned));
    parities<<<64, 128>>>(keys, parity, n);
}
