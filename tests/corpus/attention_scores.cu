// Causal attention in three kernels: scaled query-key products, softmax, weighted values.
#include <float.h>
#include <math.h>

__global__ void attentionQueryKey(float* preatt, const float* inp, int B, int T, int C, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int total = B * NH * T * T;
    if (idx < total) {
        int t2 = idx % T;
        int t = (idx / T) % T;
        if (t2 > t) {
            preatt[idx] = -INFINITY;
            return;
        }
        int h = (idx / (T * T)) % NH;
        int b = idx / (NH * T * T);
        int C3 = C * 3, hs = C / NH;
        const float* query = inp + b * T * C3 + t * C3 + h * hs;
        const float* key = inp + b * T * C3 + t2 * C3 + h * hs + C;
        float val = 0.0f;
        for (int i = 0; i < hs; i++)
            val += query[i] * key[i];
        preatt[idx] = val * (1.0 / sqrtf(hs));
    }
}

__global__ void attentionSoftmax(float* att, const float* preatt, int B, int T, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= B * T * NH)
        return;
    int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
    const float* in = preatt + b * NH * T * T + h * T * T + t * T;
    float* out = att + b * NH * T * T + h * T * T + t * T;
    float maxval = -FLT_MAX;
    for (int t2 = 0; t2 <= t; t2++)
        maxval = max(maxval, in[t2]);
    float expsum = 0.0f;
    for (int t2 = 0; t2 <= t; t2++) {
        float e = expf(in[t2] - maxval);
        expsum += e;
        out[t2] = e;
    }
    float inverse = expsum == 0.0f ? 0.0f : 1.0f / expsum;
    for (int t2 = 0; t2 < T; t2++)
        out[t2] = t2 <= t ? out[t2] * inverse : 0.0f;
}

__global__ void attentionValue(float* out, const float* att, const float* inp, int B, int T, int C, int NH) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= B * T * NH)
        return;
    int h = idx % NH, t = (idx / NH) % T, b = idx / (NH * T);
    int C3 = C * 3, hs = C / NH;
    float* o = out + b * T * C + t * C + h * hs;
    const float* a = att + b * NH * T * T + h * T * T + t * T;
    for (int i = 0; i < hs; i++)
        o[i] = 0.0f;
    for (int t2 = 0; t2 <= t; t2++) {
        const float* value = inp + b * T * C3 + t2 * C3 + h * hs + C * 2;
        for (int i = 0; i < hs; i++)
            o[i] += a[t2] * value[i];
    }
}

int main() {
    int B = 2, T = 32, C = 48, NH = 3;
    int block_size = 256;
    float *inp, *preatt, *att, *out;
    cudaMalloc(&inp, B * T * 3 * C * sizeof(float));
    cudaMalloc(&preatt, B * NH * T * T * sizeof(float));
    cudaMalloc(&att, B * NH * T * T * sizeof(float));
    cudaMalloc(&out, B * T * C * sizeof(float));
    int total = B * NH * T * T;
    attentionQueryKey<<<(total + block_size - 1) / block_size, block_size>>>(preatt, inp, B, T, C, NH);
    attentionSoftmax<<<(B * T * NH + block_size - 1) / block_size, block_size>>>(att, preatt, B, T, NH);
    attentionValue<<<(B * T * NH + block_size - 1) / block_size, block_size>>>(out, att, inp, B, T, C, NH);
    return 0;
}
