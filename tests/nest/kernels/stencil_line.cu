__global__ void stencil_line_guarded(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n - 1)
        out[i] = in[i - 1] + 2.0f * in[i] + in[i + 1];
}

__global__ void stencil_line_continue(const float* in, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (i == 0)
            continue;
        if (i == n - 1)
            continue;
        float sum = 0.0f;
        sum += in[i - 1];
        sum += 2.0f * in[i];
        sum += in[i + 1];
        out[i] = sum;
    }
}

__global__ void stencil_line_reference(const float* in, float* out, int n) {
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i + 1 >= n)
        return;
    const float& left = in[i - 1];
    const float& right = in[i + 1];
    float& result = out[i];
    result = left + 2.0f * in[i] + right;
}
