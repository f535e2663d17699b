// The file that script/bench-latency opens: the kernels of a small transformer layer and its training step, with
// their host side, as one finds them in one file of a real project.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));   \
            std::exit(EXIT_FAILURE);                                                               \
        }                                                                                          \
    } while (0)

constexpr int kWarpSize = 32;
constexpr int kTile = 32;

inline int ceilDiv(int a, int b) { return (a + b - 1) / b; }

// ---------------------------------------------------------------------------------------------
// Element-wise

__global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void scaleInPlace(float* data, float factor, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        data[i] *= factor;
}

__global__ void geluForward(float* out, const float* in, int n) {
    const float kScale = 0.7978845608f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = in[i];
        float cube = 0.044715f * x * x * x;
        out[i] = 0.5f * x * (1.0f + tanhf(kScale * (x + cube)));
    }
}

__global__ void geluBackward(float* dInput, const float* input, const float* dOutput, int n) {
    const float kScale = 0.7978845608f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = input[i];
    float cube = 0.044715f * x * x * x;
    float tanhArgument = kScale * (x + cube);
    float tanhValue = tanhf(tanhArgument);
    float coshValue = coshf(tanhArgument);
    float sech2 = 1.0f / (coshValue * coshValue);
    float local =
        0.5f * (1.0f + tanhValue) + x * 0.5f * sech2 * kScale * (1.0f + 3.0f * 0.044715f * x * x);
    dInput[i] = local * dOutput[i];
}

__global__ void residualAdd(float* out, const float* a, const float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}

__global__ void residualAddVectorized(float4* out, const float4* a, const float4* b, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float4 u = a[i];
        float4 v = b[i];
        out[i] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
}

__global__ void toHalf(__half* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __float2half(in[i]);
}

__global__ void addHalf2(__half2* out, const __half2* a, const __half2* b, int n2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2)
        out[i] = __hadd2(a[i], b[i]);
}

// ---------------------------------------------------------------------------------------------
// Reductions

__device__ inline float warpSum(float value) {
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    return value;
}

__device__ inline float warpMax(float value) {
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
    return value;
}

__device__ float blockSum(float value) {
    __shared__ float partial[kWarpSize];
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    value = warpSum(value);
    if (lane == 0)
        partial[warp] = value;
    __syncthreads();
    int warps = blockDim.x / kWarpSize;
    value = threadIdx.x < warps ? partial[lane] : 0.0f;
    return warp == 0 ? warpSum(value) : value;
}

__global__ void reduceTree(const float* in, float* out, int n) {
    __shared__ float partial[256];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            partial[tid] += partial[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = partial[0];
}

__global__ void reduceShuffle(const float* in, float* out, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = blockSum(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

__global__ void reduceCooperative(const float* in, float* out, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float sum = 0.0f;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n;
         i += block.size() * gridDim.x)
        sum += in[i];
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0)
        atomicAdd(out, sum);
}

__global__ void rowSumNaive(const float* in, float* out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c)
        sum += in[row * columns + c];
    out[row] = sum;
}

__global__ void columnSum(const float* in, float* out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r)
        sum += in[r * columns + column];
    out[column] = sum;
}

// ---------------------------------------------------------------------------------------------
// Data movement

__global__ void transposeNaive(float* out, const float* in, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

__global__ void transposeTiled(float* out, const float* in, int width, int height) {
    __shared__ float tile[kTile][kTile];
    int x = blockIdx.x * kTile + threadIdx.x;
    int y = blockIdx.y * kTile + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * kTile + threadIdx.x;
    y = blockIdx.x * kTile + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void gatherRows(float* out, const int* index, const float* table, int rows, int width) {
    int row = blockIdx.x;
    if (row >= rows)
        return;
    const float* source = table + static_cast<size_t>(index[row]) * width;
    for (int c = threadIdx.x; c < width; c += blockDim.x)
        out[row * width + c] = source[c];
}

__global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&bins[b], local[b]);
}

__global__ void inclusiveScan(const int* in, int* out, int n) {
    extern __shared__ int buffer[];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    buffer[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        int value = tid >= offset ? buffer[tid - offset] : 0;
        __syncthreads();
        buffer[tid] += value;
        __syncthreads();
    }
    if (i < n)
        out[i] = buffer[tid];
}

// ---------------------------------------------------------------------------------------------
// Contractions and windows

__global__ void matmulNaive(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

template <int Tile>
__global__ void matmulTiled(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float tileA[Tile][Tile];
    __shared__ float tileB[Tile][Tile];
    int row = blockIdx.y * Tile + threadIdx.y;
    int column = blockIdx.x * Tile + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (k + Tile - 1) / Tile; ++t) {
        int ka = t * Tile + threadIdx.x;
        int kb = t * Tile + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < Tile; ++i)
            sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

__global__ void stencil5(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__constant__ float kFilter[9];

__global__ void convolve3x3(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            int sx = min(max(x + dx, 0), width - 1);
            int sy = min(max(y + dy, 0), height - 1);
            sum += kFilter[(dy + 1) * 3 + dx + 1] * in[sy * width + sx];
        }
    }
    out[y * width + x] = sum;
}

// ---------------------------------------------------------------------------------------------
// Normalisation and attention

__global__ void softmaxRows(float* out, const float* in, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float* x = in + row * columns;
    float maximum = -INFINITY;
    for (int c = 0; c < columns; ++c)
        maximum = fmaxf(maximum, x[c]);
    float sum = 0.0f;
    for (int c = 0; c < columns; ++c)
        sum += expf(x[c] - maximum);
    for (int c = 0; c < columns; ++c)
        out[row * columns + c] = expf(x[c] - maximum) / sum;
}

__global__ void softmaxWarp(float* out, const float* in, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
    int lane = threadIdx.x % kWarpSize;
    if (row >= rows)
        return;
    const float* x = in + row * columns;
    float maximum = -INFINITY;
    for (int c = lane; c < columns; c += kWarpSize)
        maximum = fmaxf(maximum, x[c]);
    maximum = warpMax(maximum);
    float sum = 0.0f;
    for (int c = lane; c < columns; c += kWarpSize)
        sum += expf(x[c] - maximum);
    sum = warpSum(sum);
    for (int c = lane; c < columns; c += kWarpSize)
        out[row * columns + c] = expf(x[c] - maximum) / sum;
}

__global__ void layerNormForward(float* out, float* mean, float* rstd, const float* in,
                                 const float* weight, const float* bias, int rows, int width) {
    int row = blockIdx.x;
    if (row >= rows)
        return;
    __shared__ float sharedMean;
    __shared__ float sharedRstd;
    const float* x = in + row * width;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < width; c += blockDim.x)
        sum += x[c];
    sum = blockSum(sum);
    if (threadIdx.x == 0)
        sharedMean = sum / width;
    __syncthreads();
    float m = sharedMean;
    float variance = 0.0f;
    for (int c = threadIdx.x; c < width; c += blockDim.x)
        variance += (x[c] - m) * (x[c] - m);
    variance = blockSum(variance);
    if (threadIdx.x == 0)
        sharedRstd = rsqrtf(variance / width + 1e-5f);
    __syncthreads();
    float s = sharedRstd;
    for (int c = threadIdx.x; c < width; c += blockDim.x)
        out[row * width + c] = (x[c] - m) * s * weight[c] + bias[c];
    if (threadIdx.x == 0) {
        mean[row] = m;
        rstd[row] = s;
    }
}

__global__ void rmsNorm(float* out, const float* in, const float* weight, int rows, int width) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (row >= rows)
        return;
    const float* x = in + row * width;
    float square = 0.0f;
    for (int c = warp.thread_rank(); c < width; c += warp.size())
        square += x[c] * x[c];
    square = cg::reduce(warp, square, cg::plus<float>());
    float scale = rsqrtf(square / width + 1e-6f);
    for (int c = warp.thread_rank(); c < width; c += warp.size())
        out[row * width + c] = x[c] * scale * weight[c];
}

__global__ void attentionScores(float* scores, const float* qkv, int batch, int time, int channels,
                                int heads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int total = batch * heads * time * time;
    if (i >= total)
        return;
    int t2 = i % time;
    int t = (i / time) % time;
    if (t2 > t) {
        scores[i] = -INFINITY;
        return;
    }
    int h = (i / (time * time)) % heads;
    int b = i / (time * time * heads);
    int size = channels / heads;
    const float* query = qkv + b * time * channels * 3 + t * channels * 3 + h * size;
    const float* key = qkv + b * time * channels * 3 + t2 * channels * 3 + h * size + channels;
    float value = 0.0f;
    for (int c = 0; c < size; ++c)
        value += query[c] * key[c];
    scores[i] = value * rsqrtf(static_cast<float>(size));
}

__global__ void attentionValues(float* out, const float* weights, const float* qkv, int batch,
                                int time, int channels, int heads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * time * channels)
        return;
    int c = i % channels;
    int t = (i / channels) % time;
    int b = i / (channels * time);
    int size = channels / heads;
    int h = c / size;
    const float* row = weights + ((b * heads + h) * time + t) * time;
    float sum = 0.0f;
    for (int t2 = 0; t2 <= t; ++t2)
        sum += row[t2] * qkv[(b * time + t2) * channels * 3 + 2 * channels + c];
    out[i] = sum;
}

__global__ void rotaryEmbedding(float* qkv, int rows, int time, int channels, int heads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int pairs = channels / 2;
    if (i >= rows * pairs)
        return;
    int pair = i % pairs;
    int row = i / pairs;
    int size = channels / heads;
    float frequency = powf(10000.0f, -2.0f * (pair % (size / 2)) / size);
    float sine, cosine;
    sincosf((row % time) * frequency, &sine, &cosine);
    float* base = qkv + row * channels * 3 + 2 * pair;
    float even = base[0];
    float odd = base[1];
    base[0] = even * cosine - odd * sine;
    base[1] = even * sine + odd * cosine;
}

// ---------------------------------------------------------------------------------------------
// Loss and optimiser

__global__ void crossEntropy(float* losses, const float* probabilities, const int* targets, int rows,
                             int classes) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        losses[row] = -logf(probabilities[row * classes + targets[row]]);
}

__global__ void adamWStep(float* parameters, const float* gradients, float* m, float* v, int n,
                          float learningRate, float beta1, float beta2, float correction1,
                          float correction2, float epsilon, float weightDecay) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float gradient = gradients[i];
    float first = beta1 * m[i] + (1.0f - beta1) * gradient;
    float second = beta2 * v[i] + (1.0f - beta2) * gradient * gradient;
    m[i] = first;
    v[i] = second;
    float firstHat = first / correction1;
    float secondHat = second / correction2;
    parameters[i] -=
        learningRate * (firstHat / (sqrtf(secondHat) + epsilon) + weightDecay * parameters[i]);
}

__global__ void squaredNorm(const float* in, float* out, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i] * in[i];
    sum = blockSum(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}

// ---------------------------------------------------------------------------------------------
// Host side

template <typename T>
class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t count) : count_(count) {
        CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
    }
    ~DeviceBuffer() { cudaFree(data_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    T* get() const { return data_; }
    size_t size() const { return count_; }

    void upload(const std::vector<T>& host) {
        CUDA_CHECK(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> download() const {
        std::vector<T> host(count_);
        CUDA_CHECK(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    T* data_ = nullptr;
    size_t count_ = 0;
};

struct LayerShape {
    int batch = 4;
    int time = 64;
    int channels = 256;
    int heads = 8;

    int rows() const { return batch * time; }
    int elements() const { return rows() * channels; }
};

void launchMatmul(const float* a, const float* b, float* c, int m, int n, int k) {
    dim3 block(kTile, kTile);
    dim3 grid(ceilDiv(n, kTile), ceilDiv(m, kTile));
    matmulTiled<kTile><<<grid, block>>>(a, b, c, m, n, k);
    CUDA_CHECK(cudaGetLastError());
}

void launchTranspose(float* out, const float* in, int width, int height) {
    dim3 block(kTile, kTile);
    dim3 grid(ceilDiv(width, kTile), ceilDiv(height, kTile));
    transposeTiled<<<grid, block>>>(out, in, width, height);
    CUDA_CHECK(cudaGetLastError());
}

void layerForward(const LayerShape& shape, const float* input, const float* weightQkv,
                  const float* normWeight, const float* normBias, float* normed, float* mean,
                  float* rstd, float* qkv, float* scores, float* output) {
    int rows = shape.rows();
    int n = shape.elements();
    layerNormForward<<<rows, 256>>>(normed, mean, rstd, input, normWeight, normBias, rows,
                                    shape.channels);
    launchMatmul(normed, weightQkv, qkv, rows, 3 * shape.channels, shape.channels);
    rotaryEmbedding<<<ceilDiv(n / 2, 256), 256>>>(qkv, rows, shape.time, shape.channels,
                                                  shape.heads);
    int scoreCount = shape.batch * shape.heads * shape.time * shape.time;
    attentionScores<<<ceilDiv(scoreCount, 256), 256>>>(scores, qkv, shape.batch, shape.time,
                                                       shape.channels, shape.heads);
    int scoreRows = shape.batch * shape.heads * shape.time;
    softmaxWarp<<<ceilDiv(scoreRows, 8), 256>>>(scores, scores, scoreRows, shape.time);
    attentionValues<<<ceilDiv(n, 256), 256>>>(normed, scores, qkv, shape.batch, shape.time,
                                              shape.channels, shape.heads);
    residualAdd<<<ceilDiv(n, 256), 256>>>(output, input, normed, n);
    geluForward<<<ceilDiv(n, 256), 256>>>(normed, output, n);
    rmsNorm<<<ceilDiv(rows, 8), 256>>>(output, normed, normWeight, rows, shape.channels);
    CUDA_CHECK(cudaGetLastError());
}

float gradientNorm(const float* gradients, float* scratch, int n) {
    CUDA_CHECK(cudaMemset(scratch, 0, sizeof(float)));
    squaredNorm<<<256, 256>>>(gradients, scratch, n);
    float squared = 0.0f;
    CUDA_CHECK(cudaMemcpy(&squared, scratch, sizeof(float), cudaMemcpyDeviceToHost));
    return std::sqrt(squared);
}

int main() {
    LayerShape shape;
    const int n = shape.elements();
    DeviceBuffer<float> input(n), normed(n), output(n), gradients(n), first(n), second(n);
    DeviceBuffer<float> mean(shape.rows()), rstd(shape.rows()), scratch(1);
    DeviceBuffer<float> weight(shape.channels), bias(shape.channels);
    DeviceBuffer<float> weightQkv(shape.channels * 3 * shape.channels);
    DeviceBuffer<float> qkv(3 * n), scores(shape.batch * shape.heads * shape.time * shape.time);

    std::vector<float> host(n);
    for (int i = 0; i < n; ++i)
        host[i] = static_cast<float>(std::rand() % 1000) / 1000.0f - 0.5f;
    input.upload(host);
    gradients.upload(host);

    layerForward(shape, input.get(), weightQkv.get(), weight.get(), bias.get(), normed.get(),
                 mean.get(), rstd.get(), qkv.get(), scores.get(), output.get());
    launchTranspose(normed.get(), output.get(), shape.channels, shape.rows());
    saxpy<<<ceilDiv(n, 256), 256>>>(n, 0.5f, normed.get(), output.get());
    reduceTree<<<ceilDiv(n, 256), 256>>>(output.get(), mean.get(), n);
    reduceCooperative<<<64, 256>>>(output.get(), scratch.get(), n);

    float norm = gradientNorm(gradients.get(), scratch.get(), n);
    if (norm > 1.0f)
        scaleInPlace<<<64, 256>>>(gradients.get(), 1.0f / norm, n);
    adamWStep<<<ceilDiv(n, 256), 256>>>(output.get(), gradients.get(), first.get(), second.get(), n,
                                        3e-4f, 0.9f, 0.999f, 0.1f, 0.001f, 1e-8f, 0.01f);
    CUDA_CHECK(cudaDeviceSynchronize());
    std::printf("gradient norm %f, first output %f\n", norm, output.download()[0]);
    return 0;
}
