__global__ void histogram_guarded(const int* keys, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i]], 1);
}

__global__ void histogram_strided(const int* keys, int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const int key = keys[i];
        atomicAdd(bins + key, 1);
    }
}

__global__ void histogram_early(const int* __restrict__ keys, int* bins, int n) {
    size_t i = threadIdx.x;
    i += (size_t)blockIdx.x * blockDim.x;
    if (i >= n)
        return;
    auto key = __ldg(keys + i);
    int* slot = bins;
    slot += key;
    atomicAdd(slot, 1);
}
