// AdamW with bias correction; parameters and moments updated in place.
#include <cstddef>

__device__ inline float lerp(float start, float end, float weight) {
    return fma(weight, end, fma(-weight, start, start));
}

template <typename Tp, typename Tg>
__global__ void adamwUpdate(Tp* params, const Tg* grads, float* m, float* v, size_t count, float learningRate,
                            float beta1, float beta2, float beta1Correction, float beta2Correction, float eps,
                            float decay) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float grad = grads[i];
    float mi = lerp(grad, m[i], beta1);
    m[i] = mi;
    float vi = lerp(grad * grad, v[i], beta2);
    v[i] = vi;
    mi /= beta1Correction;
    vi /= beta2Correction;
    params[i] -= learningRate * (mi / (sqrtf(vi) + eps) + decay * params[i]);
}

void step(float* params, float* grads, float* m, float* v, int t, long count, float lr = 1e-3, float beta1 = 0.9,
          float beta2 = 0.999, float eps = 1e-8, float decay = 0.01) {
    int block = 512;
    int grid = (count + block - 1) / block;
    adamwUpdate<<<grid, block>>>(params, grads, m, v, count, lr, beta1, beta2, 1 - powf(beta1, t), 1 - powf(beta2, t),
                                 eps, decay);
}
