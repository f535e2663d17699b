// Threads that work together: reductions, scans, histograms, row norms, divergence.
#include "run.h"

// The interleaved tree: lanes of one warp part ways at each step.
__global__ void reduceInterleaved(const float* in, float* out) {
    __shared__ float partial[256];
    unsigned t = threadIdx.x;
    partial[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0)
            partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = partial[0];
}

// Neighbouring threads, far apart elements: conflicts instead of divergence.
__global__ void reduceStrided(const float* in, float* out) {
    __shared__ float partial[256];
    unsigned t = threadIdx.x;
    partial[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned i = 2 * s * t;
        if (i < blockDim.x)
            partial[i] += partial[i + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = partial[0];
}

__global__ void reduceSequential(const float* in, float* out) {
    __shared__ float partial[256];
    unsigned t = threadIdx.x;
    partial[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = partial[0];
}

__global__ void reduceShuffle(const float* in, float* out) {
    __shared__ float warps[8];
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < 8 ? warps[threadIdx.x] : 0.0f;
        for (int offset = 4; offset > 0; offset /= 2)
            value += __shfl_down_sync(0xffffffff, value, offset);
        if (threadIdx.x == 0)
            out[blockIdx.x] = value;
    }
}

__global__ void scanHillisSteele(const float* in, float* out) {
    __shared__ float buffer[2][256];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int offset = 1; offset < 256; offset *= 2) {
        int to = 1 - from;
        buffer[to][t] = t >= offset ? buffer[from][t] + buffer[from][t - offset] : buffer[from][t];
        from = to;
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = buffer[from][t];
}

__global__ void scanBlelloch(const float* in, float* out) {
    __shared__ float tree[512];
    int t = threadIdx.x, offset = 1;
    tree[2 * t] = in[blockIdx.x * 512 + 2 * t];
    tree[2 * t + 1] = in[blockIdx.x * 512 + 2 * t + 1];
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        tree[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            float left = tree[offset * (2 * t + 1) - 1];
            tree[offset * (2 * t + 1) - 1] = tree[offset * (2 * t + 2) - 1];
            tree[offset * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    out[blockIdx.x * 512 + 2 * t] = tree[2 * t];
    out[blockIdx.x * 512 + 2 * t + 1] = tree[2 * t + 1];
}

// kernelskill: launch histogram<<<128, 256>>>(n=131072, in=rand[131072, 0..64])
__global__ void histogram(const int* in, int* bins, int n) {
    __shared__ int local[64];
    if (threadIdx.x < 64)
        local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void softmaxRows(const float* in, float* out, int columns) {
    __shared__ float scratch[128];
    const float* row = in + blockIdx.x * columns;
    float best = -1e30f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        best = fmaxf(best, row[i]);
    scratch[threadIdx.x] = best;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);
        __syncthreads();
    }
    best = scratch[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(row[i] - best);
    scratch[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            scratch[threadIdx.x] += scratch[threadIdx.x + s];
        __syncthreads();
    }
    sum = scratch[0];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[blockIdx.x * columns + i] = expf(row[i] - best) / sum;
}

// A warp a row.
__global__ void layernormRows(const float* in, const float* weight, const float* bias, float* out,
                              int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const float* x = in + row * columns;
    float sum = 0;
    for (int i = lane; i < columns; i += 32)
        sum += x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    float mean = sum / columns, squares = 0;
    for (int i = lane; i < columns; i += 32)
        squares += (x[i] - mean) * (x[i] - mean);
    for (int offset = 16; offset > 0; offset /= 2)
        squares += __shfl_xor_sync(0xffffffff, squares, offset);
    float scale = rsqrtf(squares / columns + 1e-5f);
    for (int i = lane; i < columns; i += 32)
        out[row * columns + i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

// Trip counts that differ from lane to lane.
__global__ void collatz(int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned value = i + 1;
    int count = 0;
    while (value != 1) {
        value = value % 2 == 0 ? value / 2 : 3 * value + 1;
        ++count;
    }
    steps[i] = count;
}

int main() {
    const int n = 131072;
    float* a = filled<float>(n);
    float* b = filled<float>(n);
    reduceInterleaved<<<n / 256, 256>>>(a, b);
    reduceStrided<<<n / 256, 256>>>(a, b);
    reduceSequential<<<n / 256, 256>>>(a, b);
    reduceShuffle<<<n / 256, 256>>>(a, b);
    scanHillisSteele<<<n / 256, 256>>>(a, b);
    scanBlelloch<<<n / 512, 256>>>(a, b);
    histogram<<<128, 256>>>(integers(n, 64), integers(64, 1), n);
    softmaxRows<<<256, 128>>>(a, b, 512);
    layernormRows<<<32, 256>>>(a, filled<float>(512), filled<float>(512), b, 256, 512);
    collatz<<<n / 256, 256>>>(integers(n, 1), n);
    return finish();
}
