// Gradients of layer normalisation; the parameters' are gathered in shared memory first.
__device__ float warpSum(float val) {
    for (int offset = 16; offset > 0; offset /= 2)
        val += __shfl_down_sync(0xFFFFFFFFu, val, offset);
    return __shfl_sync(0xFFFFFFFFu, val, 0);
}

__global__ void layernormBackward(float* dinp, float* dweight, float* dbias, const float* dout, const float* inp,
                                  const float* weight, const float* mean, const float* rstd, int B, int T, int C) {
    extern __shared__ float shared[];
    float* dbias_shared = shared;
    float* dweight_shared = shared + C;
    int warpsInBlock = blockDim.x / 32;
    int warpId = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        dbias_shared[i] = 0.0f;
        dweight_shared[i] = 0.0f;
    }
    __syncthreads();
    for (int bt = blockIdx.x * warpsInBlock + warpId; bt < B * T; bt += gridDim.x * warpsInBlock) {
        const float* dy = dout + bt * C;
        const float* x = inp + bt * C;
        float m = mean[bt], s = rstd[bt];
        float dnormMean = 0.0f, dnormNormMean = 0.0f;
        for (int i = lane; i < C; i += 32) {
            float norm = (x[i] - m) * s;
            float dnorm = weight[i] * dy[i];
            dnormMean += dnorm;
            dnormNormMean += dnorm * norm;
        }
        dnormMean = warpSum(dnormMean) / C;
        dnormNormMean = warpSum(dnormNormMean) / C;
        for (int i = lane; i < C; i += 32) {
            float norm = (x[i] - m) * s;
            atomicAdd(&dbias_shared[i], dy[i]);
            atomicAdd(&dweight_shared[i], norm * dy[i]);
            dinp[bt * C + i] += (weight[i] * dy[i] - dnormMean - norm * dnormNormMean) * s;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        atomicAdd(&dbias[i], dbias_shared[i]);
        atomicAdd(&dweight[i], dweight_shared[i]);
    }
}

void launch(float* dinp, float* dweight, float* dbias, const float* dout, const float* inp, const float* weight,
            const float* mean, const float* rstd, int B, int T, int C) {
    size_t shared = 2 * C * sizeof(float);
    layernormBackward<<<16, 256, shared>>>(dinp, dweight, dbias, dout, inp, weight, mean, rstd, B, T, C);
}
