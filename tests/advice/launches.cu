// Machines that a launch leaves idle, and hosts that launch too often.
#include <cuda_runtime.h>

// expert: occupancy; launch-tuning; none
__global__ void smallBlocks(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sqrtf(in[i]);
}

// expert: occupancy; launch-tuning; split-reduction
__global__ void oneBlock(float* data, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        data[i] = data[i] * 2.f + 1.f;
}

// expert: occupancy; launch-tuning; coalesced-access
__global__ void oneThreadABlock(const float* in, float* out, int columns) {
    float sum = 0.f;
    for (int c = 0; c < columns; ++c)
        sum += in[blockIdx.x * columns + c];
    out[blockIdx.x] = sum;
}

// expert: occupancy; occupancy-shared-memory-tradeoff; launch-tuning
__global__ void largeTile(const float* in, float* out, int n) {
    __shared__ float tile[64][180];
    const int t = threadIdx.x;
    for (int k = 0; k < 180; ++k)
        tile[t][k] = in[(blockIdx.x * 180 + k) * 64 + t];
    __syncthreads();
    float sum = 0.f;
    for (int k = 0; k < 180; ++k)
        sum += tile[(t + k) % 64][k];
    out[blockIdx.x * 64 + t] = sum;
}

// expert: launch-overhead; cuda-graph-replay; persistent-kernel
__global__ void tinyStep(float* state, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        state[i] += dt * state[i] * (1.f - state[i]);
}

// expert: launch-overhead|occupancy; kernel-fusion; cuda-graph-replay
__global__ void scaleOne(float* row, float factor, int columns) {
    int c = threadIdx.x;
    if (c < columns)
        row[c] *= factor;
}

// expert: launch-overhead|memory-bandwidth; persistent-kernel; stencil-tiling
__global__ void relaxGrid(const float* in, float* out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

// expert: launch-overhead|occupancy; wavefront-blocking; persistent-kernel
__global__ void antiDiagonal(int* table, const int* score, int n, int diagonal) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int i = k + 1, j = diagonal - k;
    if (i < n && j >= 1 && j < n)
        table[i * n + j] = max(table[(i - 1) * n + j - 1] + score[i * n + j], max(table[(i - 1) * n + j], table[i * n + j - 1]) - 2);
}

// expert: occupancy; split-reduction; launch-tuning
__global__ void fewColumns(const float* samples, float* means, int count, int dims) {
    const int d = threadIdx.x;
    float sum = 0.f;
    for (int s = 0; s < count; ++s)
        sum += samples[s * dims + d];
    means[d] = sum / count;
}

// expert: launch-overhead; wavefront-blocking; persistent-kernel
__global__ void eliminateColumn(float* a, const float* multipliers, int n, int k) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > k && i < n && j >= k && j < n)
        a[i * n + j] -= multipliers[i * n + k] * a[k * n + j];
}

void launches(const float* in, float* out, float* data) {
    smallBlocks<<<1 << 15, 32>>>(in, out, 1 << 20);
    oneBlock<<<1, 256>>>(data, 1 << 20);
    oneThreadABlock<<<4096, 1>>>(in, out, 1024);
    largeTile<<<1024, 64>>>(in, out, 1024 * 180 * 64);
    fewColumns<<<1, 64>>>(in, out, 1 << 20, 64);
}

void evolve(float* state, float* rows, float* a, float* b, int* table, const int* score, float* matrix, const float* multipliers) {
    for (int step = 0; step < 1000; ++step)
        tinyStep<<<16, 256>>>(state, 0.01f, 4096);
    for (int r = 0; r < 512; ++r)
        scaleOne<<<1, 256>>>(rows + r * 256, 0.5f, 256);
    for (int step = 0; step < 2000; step += 2) {
        relaxGrid<<<dim3(16, 16), dim3(16, 16)>>>(a, b, 256);
        relaxGrid<<<dim3(16, 16), dim3(16, 16)>>>(b, a, 256);
    }
    for (int d = 2; d < 2048; ++d)
        antiDiagonal<<<8, 128>>>(table, score, 1024, d);
    for (int k = 0; k < 255; ++k)
        eliminateColumn<<<dim3(16, 16), dim3(16, 16)>>>(matrix, multipliers, 256, k);
}
