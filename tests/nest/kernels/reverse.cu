__global__ void reverse_guarded(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}

__global__ void reverse_pointer(const int* in, int* out, int n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int* end = out + n;
    *(end - 1 - i) = in[i];
}

__global__ void reverse_strided(const int* in, int* out, int n) {
    const int* from = in + blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const int target = (n - i) - 1;
        out[target] = *from;
        from += blockDim.x * gridDim.x;
    }
}
