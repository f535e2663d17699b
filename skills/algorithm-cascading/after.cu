// The dot product of two vectors.
__global__ void dot(const float* a, const float* b, float* result, int n) {
    __shared__ float partial[256];
    int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += blockDim.x * gridDim.x)
        sum += a[i] * b[i];
    partial[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        atomicAdd(result, partial[0]);
}

void run(int n) {
    float *a, *b, *result;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&result, sizeof(float));
    cudaMemset(result, 0, sizeof(float));
    dot<<<((n + 255) / 256 + 7) / 8, 256>>>(a, b, result, n);
}
