#define RADIUS 4

__global__ void convolution_guarded(const float* in, const float* taps, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 2 * RADIUS) {
        float sum = 0.0f;
        for (int k = 0; k < 2 * RADIUS + 1; ++k)
            sum += in[i + k] * taps[k];
        out[i] = sum;
    }
}

template <int WIDTH>
__global__ void convolution_template(const float* in, const float* taps, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - WIDTH + 1)
        return;
    const float* window = in + i;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k)
        sum += window[k] * taps[k];
    out[i] = sum;
}

__global__ void convolution_moving(const float* in, const float* taps, float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 8; i += gridDim.x * blockDim.x) {
        const float* a = in + i;
        const float* b = taps;
        float sum = 0.0f;
        for (int k = 0; k <= 8; ++k)
            sum += *a++ * *b++;
        out[i] = sum;
    }
}

void launchConvolution(const float* in, const float* taps, float* out, int n) {
    convolution_template<9><<<(n + 127) / 128, 128>>>(in, taps, out, n);
}
