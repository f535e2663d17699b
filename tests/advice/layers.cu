// Layers of neural networks, forward and backward.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// expert: uncoalesced-access; row-per-warp; online-softmax
__global__ void softmaxRowPerThread(const float* in, float* out, int rows, int columns) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float* x = in + r * columns;
    float* y = out + r * columns;
    float most = -INFINITY;
    for (int c = 0; c < columns; ++c)
        most = fmaxf(most, x[c]);
    float sum = 0.f;
    for (int c = 0; c < columns; ++c)
        sum += expf(x[c] - most);
    for (int c = 0; c < columns; ++c)
        y[c] = expf(x[c] - most) / sum;
}

// expert: memory-bandwidth|synchronization; online-softmax; warp-shuffle-reduction
__global__ void softmaxRowPerBlock(const float* in, float* out, int columns) {
    __shared__ float s[256];
    const float* x = in + blockIdx.x * columns;
    float most = -1e30f;
    for (int c = threadIdx.x; c < columns; c += 256)
        most = fmaxf(most, x[c]);
    s[threadIdx.x] = most;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    float sum = 0.f;
    for (int c = threadIdx.x; c < columns; c += 256)
        sum += expf(x[c] - most);
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    sum = s[0];
    for (int c = threadIdx.x; c < columns; c += 256)
        out[blockIdx.x * columns + c] = expf(x[c] - most) / sum;
}

// expert: uncoalesced-access; row-per-warp; row-per-block
__global__ void layerNorm(const float* x, float* y, const float* gain, const float* shift, int rows, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float mean = 0.f, square = 0.f;
        for (int i = 0; i < width; i++) {
            mean += x[r * width + i];
            square += x[r * width + i] * x[r * width + i];
        }
        mean /= width;
        float scale = rsqrtf(square / width - mean * mean + 1e-5f);
        for (int i = 0; i < width; i++)
            y[r * width + i] = (x[r * width + i] - mean) * scale * gain[i] + shift[i];
    }
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void rmsNormByWarps(const float* __restrict__ x, const float* __restrict__ gain, float* __restrict__ y, int rows, int width) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0.f;
    for (int i = lane; i < width; i += 32)
        sum += x[row * width + i] * x[row * width + i];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    const float scale = rsqrtf(sum / width + 1e-6f);
    for (int i = lane; i < width; i += 32)
        y[row * width + i] = x[row * width + i] * scale * gain[i];
}

// expert: memory-bandwidth; vectorized-access; kernel-fusion
__global__ void gelu(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float x = in[i];
        out[i] = 0.5f * x * (1.f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
}

// expert: memory-bandwidth; vectorized-access; kernel-fusion
__global__ void dropout(const float* in, const float* random, float* out, float keep, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = random[i] < keep ? in[i] / keep : 0.f;
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void adam(float* w, const float* g, float* m, float* v, float rate, float b1, float b2, float c1, float c2, long n) {
    const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float grad = g[i];
    m[i] = b1 * m[i] + (1 - b1) * grad;
    v[i] = b2 * v[i] + (1 - b2) * grad * grad;
    w[i] -= rate * (m[i] / c1) / (sqrtf(v[i] / c2) + 1e-8f);
}

// expert: synchronization|uncoalesced-access; segmented-reduction; binning
__global__ void embeddingBackward(const int* tokens, const float* grad, float* table, int count, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count * width) {
        const int t = i / width, k = i % width;
        atomicAdd(&table[tokens[t] * width + k], grad[i]);
    }
}

// expert: occupancy|memory-latency|uncoalesced-access; row-per-block; split-reduction
__global__ void batchNormStatistics(const float* x, float* mean, float* variance, int batch, int channels, int pixels) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    float sum = 0.f, square = 0.f;
    for (int b = 0; b < batch; ++b)
        for (int p = 0; p < pixels; ++p) {
            const float v = x[(b * channels + c) * pixels + p];
            sum += v;
            square += v * v;
        }
    mean[c] = sum / (batch * pixels);
    variance[c] = square / (batch * pixels) - mean[c] * mean[c];
}

// expert: memory-bandwidth|compute|tensor-core-eligible; shared-memory-tiling; register-tiling
__global__ void convolutionDirect(const float* in, const float* weight, float* out, int inChannels, int outChannels, int height,
                                  int width, int k) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int o = blockIdx.z;
    const int outHeight = height - k + 1, outWidth = width - k + 1;
    if (x >= outWidth || y >= outHeight)
        return;
    float sum = 0.f;
    for (int c = 0; c < inChannels; ++c)
        for (int dy = 0; dy < k; ++dy)
            for (int dx = 0; dx < k; ++dx)
                sum += in[(c * height + y + dy) * width + x + dx] * weight[((o * inChannels + c) * k + dy) * k + dx];
    out[(o * outHeight + y) * outWidth + x] = sum;
}

// expert: uncoalesced-access; vectorized-access; shared-memory-tiling
__global__ void maxPool2(const float* in, float* out, int height, int width, int planes) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int w = width / 2, h = height / 2;
    if (i >= planes * h * w)
        return;
    const int x = i % w, y = (i / w) % h, p = i / (w * h);
    const float* corner = in + (p * height + 2 * y) * width + 2 * x;
    out[i] = fmaxf(fmaxf(corner[0], corner[1]), fmaxf(corner[width], corner[width + 1]));
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void depthwise3(const float* in, const float* filter, float* out, int channels, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int c = blockIdx.z;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    float sum = 0.f;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            sum += filter[c * 9 + i * 3 + j] * in[(c * height + y + i - 1) * width + x + j - 1];
    out[(c * height + y) * width + x] = sum;
}

// expert: tensor-core-eligible|uncoalesced-access|memory-bandwidth; shared-memory-tiling; kernel-fusion
__global__ void scoresOfAttention(const float* q, const float* k, float* scores, int length, int width, float scale) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= length || j >= length)
        return;
    float dot = 0.f;
    for (int d = 0; d < width; ++d)
        dot += q[i * width + d] * k[j * width + d];
    scores[i * length + j] = dot * scale;
}

// expert: uncoalesced-access; row-per-warp; online-softmax
__global__ void crossEntropy(const float* logits, const int* labels, float* losses, int rows, int classes) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float most = logits[r * classes];
    for (int c = 1; c < classes; ++c)
        if (logits[r * classes + c] > most)
            most = logits[r * classes + c];
    float sum = 0.f;
    for (int c = 0; c < classes; ++c)
        sum += expf(logits[r * classes + c] - most);
    losses[r] = logf(sum) + most - logits[r * classes + labels[r]];
}

// expert: uncoalesced-access; row-per-warp; row-per-block
__global__ void argMaxRows(const float* scores, int* best, int rows, int classes) {
    const int r = threadIdx.x + blockIdx.x * blockDim.x;
    if (r < rows) {
        int at = 0;
        float top = scores[r * classes];
        for (int c = 1; c < classes; c++) {
            float s = scores[r * classes + c];
            if (s > top) {
                top = s;
                at = c;
            }
        }
        best[r] = at;
    }
}

// expert: memory-bandwidth; vectorized-math; vectorized-access
__global__ void addHalves(const __half* a, const __half* b, __half* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __hadd(a[i], b[i]);
}

// expert: memory-bandwidth|uncoalesced-access; vectorized-access; none
__global__ void im2col(const float* in, float* out, int channels, int height, int width, int k) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int w = width - k + 1, h = height - k + 1;
    if (i >= channels * h * w)
        return;
    const int x = i % w, y = i / w % h, c = i / (w * h);
    for (int dy = 0; dy < k; ++dy)
        for (int dx = 0; dx < k; ++dx)
            out[((c * k + dy) * k + dx) * h * w + y * w + x] = in[(c * height + y + dy) * width + x + dx];
}

void layers(float* a, float* b, float* c, float* d, int* tokens, __half* h, __half* g, __half* f, int rows, int columns, int n) {
    const int blocks = (n + 255) / 256, rowBlocks = (rows + 127) / 128;
    const dim3 block(16, 16), grid((columns + 15) / 16, (rows + 15) / 16);
    softmaxRowPerThread<<<rowBlocks, 128>>>(a, b, rows, columns);
    softmaxRowPerBlock<<<rows, 256>>>(a, b, columns);
    layerNorm<<<rowBlocks, 128>>>(a, b, c, d, rows, columns);
    rmsNormByWarps<<<(rows + 7) / 8, 256>>>(a, b, c, rows, columns);
    gelu<<<blocks, 256>>>(a, b, n);
    dropout<<<1024, 256>>>(a, b, c, 0.9f, n);
    adam<<<blocks, 256>>>(a, b, c, d, 1e-3f, 0.9f, 0.999f, 0.1f, 0.001f, n);
    embeddingBackward<<<blocks, 256>>>(tokens, a, b, rows, columns);
    batchNormStatistics<<<2, 128>>>(a, b, c, 32, 256, 3136);
    convolutionDirect<<<dim3(14, 14, 64), block>>>(a, b, c, 64, 64, 224, 224, 3);
    maxPool2<<<blocks, 256>>>(a, b, 112, 112, 64);
    depthwise3<<<dim3(14, 14, 64), block>>>(a, b, c, 64, 224, 224);
    scoresOfAttention<<<grid, block>>>(a, b, c, rows, 64, 0.125f);
    crossEntropy<<<rowBlocks, 128>>>(a, tokens, b, rows, columns);
    argMaxRows<<<rowBlocks, 128>>>(a, tokens, rows, columns);
    addHalves<<<blocks, 256>>>(h, g, f, n);
    im2col<<<blocks, 256>>>(a, b, 64, 56, 56, 3);
}
