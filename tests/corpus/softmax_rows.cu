// Row softmax, three ways: a thread a row, a block a row, a warp a row online.
#include <cfloat>
#include <cmath>

__global__ void softmaxThread(float* out, const float* inp, int N, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
    const float* row = inp + i * C;
    float maxval = -INFINITY;
    for (int j = 0; j < C; j++)
        if (row[j] > maxval)
            maxval = row[j];
    double sum = 0.0;
    for (int j = 0; j < C; j++) {
        out[i * C + j] = expf(row[j] - maxval);
        sum += out[i * C + j];
    }
    for (int j = 0; j < C; j++)
        out[i * C + j] /= (float)sum;
}

__global__ void softmaxBlock(float* out, const float* inp, int N, int C) {
    extern __shared__ float shared[];
    const float* x = inp + (size_t)blockIdx.x * C;
    float* y = out + (size_t)blockIdx.x * C;
    int tid = threadIdx.x;
    float maxval = -FLT_MAX;
    for (int i = tid; i < C; i += blockDim.x)
        maxval = fmaxf(maxval, x[i]);
    shared[tid] = maxval;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        if (tid < stride)
            shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
        __syncthreads();
    }
    float offset = shared[0];
    __syncthreads();
    float sum = 0.f;
    for (int i = tid; i < C; i += blockDim.x) {
        float e = __expf(x[i] - offset);
        y[i] = e;
        sum += e;
    }
    shared[tid] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
        if (tid < stride)
            shared[tid] += shared[tid + stride];
        __syncthreads();
    }
    float norm = 1.f / shared[0];
    for (int i = tid; i < C; i += blockDim.x)
        y[i] *= norm;
}

__global__ void softmaxOnlineWarp(float* out, const float* inp, int N, int C) {
    int lane = threadIdx.x % warpSize;
    int row = blockIdx.x * (blockDim.x / warpSize) + threadIdx.x / warpSize;
    if (row >= N)
        return;
    const float* x = inp + row * C;
    float m = -INFINITY, d = 0.f;
    for (int i = lane; i < C; i += 32) {
        float v = x[i], big = fmaxf(m, v);
        d = d * expf(m - big) + expf(v - big);
        m = big;
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        float om = __shfl_xor_sync(0xFFFFFFFF, m, offset);
        float od = __shfl_xor_sync(0xFFFFFFFF, d, offset);
        float big = fmaxf(m, om);
        d = (m == -INFINITY ? 0.f : d * expf(m - big)) + (om == -INFINITY ? 0.f : od * expf(om - big));
        m = big;
    }
    for (int i = lane; i < C; i += 32)
        __stcs(out + row * C + i, expf(x[i] - m) / d);
}

void softmaxForward(float* out, const float* inp, int N, int C, int blockSize) {
    softmaxThread<<<(N + blockSize - 1) / blockSize, blockSize>>>(out, inp, N, C);
    softmaxBlock<<<N, blockSize, blockSize * sizeof(float)>>>(out, inp, N, C);
    softmaxOnlineWarp<<<(N * 32 + blockSize - 1) / blockSize, blockSize>>>(out, inp, N, C);
}
