// Numbers of 8 and 4 bits: to and from floats, and products of them.
#include <cstdint>
#include <cuda_runtime.h>

// Largest magnitude of a row, then its scale and bytes, by one block.
__global__ void quantizeRows(const float* __restrict__ x, int8_t* __restrict__ q, float* __restrict__ scale, int columns) {
    __shared__ float largest[128];
    const int row = blockIdx.x;
    float m = 0;
    for (int c = threadIdx.x; c < columns; c += 128)
        m = fmaxf(m, fabsf(x[row * columns + c]));
    largest[threadIdx.x] = m;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + s]);
        __syncthreads();
    }
    const float step = largest[0] / 127.0f + 1e-12f;
    for (int c = threadIdx.x; c < columns; c += 128)
        q[row * columns + c] = static_cast<int8_t>(rintf(x[row * columns + c] / step));
    if (threadIdx.x == 0)
        scale[row] = step;
}

__global__ void dequantize(const int8_t* q, const float* scale, float* x, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c < columns && r < rows)
        x[r * columns + c] = q[r * columns + c] * scale[r];
}

__global__ void unpackNibbles(const uint8_t* packed, float* out, float zero, float step, int bytes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bytes)
        return;
    uint8_t b = packed[i];
    out[2 * i] = (float(b & 0xf) - zero) * step;
    out[2 * i + 1] = (float(b >> 4) - zero) * step;
}

__global__ void dotBytes(const int* a, const int* b, int* out, int rows, int words) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        int sum = 0;
        for (int w = 0; w < words; w++)
            sum = __dp4a(a[row * words + w], b[w], sum);
        out[row] = sum;
    }
}

__global__ void saturate(const int32_t* wide, int16_t* narrow, int n, int shift) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int32_t v = wide[i] >> shift;
        v = v > INT16_MAX ? INT16_MAX : v;
        v = v < INT16_MIN ? INT16_MIN : v;
        narrow[i] = (int16_t)v;
    }
}

__global__ void thermometer(const uint64_t* words, uint8_t* ones, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ones[i] = __popcll(words[i]);
}

void quantizeAll(float* x, int8_t* q, float* scale, uint8_t* bytes, int* a, int* b, int* sums, int16_t* narrow, uint64_t* words) {
    quantizeRows<<<50, 128>>>(x, q, scale, 777);
    dequantize<<<dim3((777 + 63) / 64, 50), 64>>>(q, scale, x, 50, 777);
    unpackNibbles<<<(4001 + 255) / 256, 256>>>(bytes, x, 8.0f, 0.125f, 4001);
    dotBytes<<<(600 + 127) / 128, 128>>>(a, b, sums, 600, 48);
    saturate<<<10, 192>>>(sums, narrow, 9999, 3);
    thermometer<<<(3000u + 63) / 64, 64>>>(words, bytes, 3000u);
}
