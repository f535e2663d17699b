// The small kernels around the matrix products of a language model.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>

__global__ void rmsNorm(const float* __restrict__ x, const float* __restrict__ gain, float* __restrict__ y, int dim) {
    extern __shared__ float scratch[];
    const float* row = x + (size_t)blockIdx.x * dim;
    float sum = 0.f;
    for (int i = threadIdx.x; i < dim; i += blockDim.x)
        sum += row[i] * row[i];
    scratch[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    float scale = rsqrtf(scratch[0] / dim + 1e-5f);
    for (int i = threadIdx.x; i < dim; i += blockDim.x)
        y[(size_t)blockIdx.x * dim + i] = row[i] * scale * gain[i];
}

__global__ void rotaryEmbedding(float* q, int heads, int headDim, int position) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    int pairs = heads * headDim / 2;
    if (pair >= pairs)
        return;
    int within = pair % (headDim / 2);
    float angle = position * powf(10000.0f, -2.0f * within / headDim);
    float c = cosf(angle), s = sinf(angle);
    float a = q[2 * pair], b = q[2 * pair + 1];
    q[2 * pair] = a * c - b * s;
    q[2 * pair + 1] = a * s + b * c;
}

__global__ void swiglu(const float* gate, const float* up, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = gate[i];
        out[i] = g / (1.0f + expf(-g)) * up[i];
    }
}

__global__ void swigluHalf(const __half* gate, const __half* up, __half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = __half2float(gate[i]);
        float u = __half2float(up[i]);
        out[i] = __float2half(g / (1.0f + expf(-g)) * u);
    }
}

__global__ void causalMask(float* scores, int length) {
    int key = blockIdx.x * blockDim.x + threadIdx.x;
    int query = blockIdx.y * blockDim.y + threadIdx.y;
    if (key < length && query < length && key > query)
        scores[query * length + key] = -FLT_MAX;
}

// One thread a row; the row is walked three times.
__global__ void softmaxSerial(float* scores, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float* row = scores + r * columns;
        float largest = -FLT_MAX;
        for (int c = 0; c < columns; ++c)
            largest = fmaxf(largest, row[c]);
        float sum = 0;
        for (int c = 0; c < columns; ++c) {
            row[c] = expf(row[c] - largest);
            sum += row[c];
        }
        for (int c = 0; c < columns; ++c)
            row[c] /= sum;
    }
}

__global__ void appendToCache(__half* cache, const __half* fresh, int position, int heads, int headDim, int capacity) {
    int d = threadIdx.x;
    int h = blockIdx.x;
    if (h < heads && d < headDim && position < capacity)
        cache[(h * capacity + position) * headDim + d] = fresh[h * headDim + d];
}

__global__ void argmax(const float* logits, int* best, int vocabulary) {
    __shared__ float values[256];
    __shared__ int places[256];
    const float* row = logits + blockIdx.x * vocabulary;
    float top = -FLT_MAX;
    int at = 0;
    for (int i = threadIdx.x; i < vocabulary; i += blockDim.x)
        if (row[i] > top) {
            top = row[i];
            at = i;
        }
    values[threadIdx.x] = top;
    places[threadIdx.x] = at;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (threadIdx.x < s && values[threadIdx.x + s] > values[threadIdx.x]) {
            values[threadIdx.x] = values[threadIdx.x + s];
            places[threadIdx.x] = places[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        best[blockIdx.x] = places[0];
}

__global__ void addResidual(float4* stream, const float4* branch, float scale, int quads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quads) {
        float4 s = stream[i], b = branch[i];
        s.x += scale * b.x;
        s.y += scale * b.y;
        s.z += scale * b.z;
        s.w += scale * b.w;
        stream[i] = s;
    }
}

void decode(float* x, float* y, float* gain, float* scores, __half* hx, __half* hy, __half* cache, int* token) {
    rmsNorm<<<32, 128, 128 * sizeof(float)>>>(x, gain, y, 768);
    rotaryEmbedding<<<(12 * 64 / 2 + 127) / 128, 128>>>(y, 12, 64, 17);
    swiglu<<<(5000 + 255) / 256, 256>>>(x, gain, y, 5000);
    swigluHalf<<<(5000 + 255) / 256, 256>>>(hx, hx, hy, 5000);
    causalMask<<<dim3(7, 7), dim3(16, 16)>>>(scores, 100);
    softmaxSerial<<<1, 128>>>(scores, 100, 100);
    appendToCache<<<12, 64>>>(cache, hx, 5, 12, 64, 128);
    argmax<<<4, 256>>>(scores, token, 2000);
    addResidual<<<(1000 + 127) / 128, 128>>>((float4*)x, (const float4*)y, 0.5f, 1000);
}
