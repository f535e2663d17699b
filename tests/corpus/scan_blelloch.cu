// Work-efficient exclusive scan of a block, with conflict-free offsets, and the sum of blocks added back.
#define LOG_BANKS 5
#define OFFSET(n) ((n) >> LOG_BANKS)

__global__ void scanBlock(const int* in, int* out, int* blockSums, int n) {
    extern __shared__ int temp[];
    int tid = threadIdx.x;
    int base = 2 * blockDim.x * blockIdx.x;
    int ai = tid, bi = tid + blockDim.x;
    temp[ai + OFFSET(ai)] = base + ai < n ? in[base + ai] : 0;
    temp[bi + OFFSET(bi)] = base + bi < n ? in[base + bi] : 0;
    int offset = 1;
    for (int d = blockDim.x; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int l = offset * (2 * tid + 1) - 1, r = offset * (2 * tid + 2) - 1;
            temp[r + OFFSET(r)] += temp[l + OFFSET(l)];
        }
        offset <<= 1;
    }
    if (tid == 0) {
        int last = 2 * blockDim.x - 1;
        if (blockSums != nullptr)
            blockSums[blockIdx.x] = temp[last + OFFSET(last)];
        temp[last + OFFSET(last)] = 0;
    }
    for (int d = 1; d < 2 * blockDim.x; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int l = offset * (2 * tid + 1) - 1, r = offset * (2 * tid + 2) - 1;
            int t = temp[l + OFFSET(l)];
            temp[l + OFFSET(l)] = temp[r + OFFSET(r)];
            temp[r + OFFSET(r)] += t;
        }
    }
    __syncthreads();
    if (base + ai < n)
        out[base + ai] = temp[ai + OFFSET(ai)];
    if (base + bi < n)
        out[base + bi] = temp[bi + OFFSET(bi)];
}

__global__ void addBlockSums(int* data, const int* sums, int n) {
    int i = 2 * blockDim.x * blockIdx.x + threadIdx.x;
    int sum = sums[blockIdx.x];
    if (i < n)
        data[i] += sum;
    if (i + blockDim.x < n)
        data[i + blockDim.x] += sum;
}

int main() {
    const int n = 4096, threads = 256, blocks = n / (2 * threads);
    int *in, *out, *sums;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&sums, blocks * sizeof(int));
    size_t shared = (2 * threads + OFFSET(2 * threads)) * sizeof(int);
    scanBlock<<<blocks, threads, shared>>>(in, out, sums, n);
    addBlockSums<<<blocks, threads>>>(out, sums, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
