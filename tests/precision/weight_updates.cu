// Steps of optimizers over flat parameters, in single and mixed precision.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void momentumStep(float* w, const float* g, float* m, float rate, float beta, long n) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        m[i] = beta * m[i] + g[i];
        w[i] -= rate * m[i];
    }
}

__global__ void rmsPropStep(float* __restrict__ w, const float* __restrict__ g, float* __restrict__ square, float rate, float decay,
                            unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = decay * square[i] + (1.0f - decay) * g[i] * g[i];
    square[i] = v;
    w[i] -= rate * g[i] / (sqrtf(v) + 1e-8f);
}

__global__ void signStep(float* w, const float* g, float* m, float rate, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float c = 0.9f * m[i] + 0.1f * g[i];
        float s = c > 0.0f ? 1.0f : (c < 0.0f ? -1.0f : 0.0f);
        w[i] -= rate * s;
        m[i] = 0.99f * m[i] + 0.01f * g[i];
    }
}

// The master copy stays in float; the model gets what rounds.
__global__ void mixedStep(float* master, __half* model, const __half* g, float rate, float inverseScale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float w = master[i] - rate * inverseScale * __half2float(g[i]);
        master[i] = w;
        model[i] = __float2half_rn(w);
    }
}

__global__ void bfloatAverage(const __nv_bfloat16* fresh, float* average, float decay, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        average[i] = decay * average[i] + (1 - decay) * __bfloat162float(fresh[i]);
}

__global__ void squaredNorm(const float* g, float* norm, int n) {
    float sum = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += g[i] * g[i];
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(norm, sum);
}

// kernelskill: launch clipByNorm<<<49, 256>>>(n=12345, g=rand[12345], norm=9, most=1)
__global__ void clipByNorm(float* g, const float* norm, float most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float length = sqrtf(*norm);
        if (length > most)
            g[i] *= most / length;
    }
}

__global__ void foundInfinite(const __half* g, int* found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !isfinite(__half2float(g[i])))
        *found = 1;
}

__global__ void accumulateHalf2(__half2* sum, const __half2* g, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        sum[i] = __hadd2(sum[i], g[i]);
}

void train(float* w, float* g, float* m, __half* hw, __half* hg, __nv_bfloat16* b, float* norm, int* found) {
    const int n = 12345;
    const int blocks = (n + 255) / 256;
    momentumStep<<<blocks, 256>>>(w, g, m, 0.1f, 0.9f, n);
    rmsPropStep<<<blocks, 256>>>(w, g, m, 0.01f, 0.95f, n);
    signStep<<<12, 256>>>(w, g, m, 0.001f, n);
    mixedStep<<<blocks, 256>>>(w, hw, hg, 0.1f, 1.0f / 128, n);
    bfloatAverage<<<blocks, 256>>>(b, w, 0.999f, n);
    squaredNorm<<<8, 256>>>(g, norm, n);
    clipByNorm<<<blocks, 256>>>(g, norm, 1.0f, n);
    foundInfinite<<<blocks, 256>>>(hg, found, n);
    accumulateHalf2<<<blocks, 256>>>((__half2*)hw, (const __half2*)hg, n / 2);
}
