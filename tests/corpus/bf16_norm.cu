// Root-mean-square norm of bfloat16 rows with float accumulation.
#include <cuda_bf16.h>
typedef __nv_bfloat16 floatX;
__global__ void rmsnorm(floatX* __restrict__ out, const floatX* __restrict__ in, const floatX* __restrict__ weight, int C) {
    __shared__ float partial[32];
    const floatX* x = in + (size_t)blockIdx.x * C;
    float sum = 0.f;
    for (int i = threadIdx.x; i < C; i += blockDim.x) {
        float v = (float)x[i];
        sum += v * v;
    }
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = threadIdx.x % 32 < blockDim.x / 32 ? partial[threadIdx.x % 32] : 0.f;
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(~0u, sum, o);
    float scale = rsqrtf(sum / C + 1e-6f);
    for (int i = threadIdx.x; i < C; i += blockDim.x)
        out[(size_t)blockIdx.x * C + i] = __float2bfloat16_rn(__bfloat162float(x[i]) * scale * (float)weight[i]);
}
__global__ void addPairs(__nv_bfloat162* a, const __nv_bfloat162* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = __hadd2(a[i], __hmul2(b[i], __float2bfloat162_rn(0.5f)));
}
void launch(floatX* out, const floatX* in, const floatX* w, int rows, int C) {
    rmsnorm<<<rows, 128>>>(out, in, w, C);
    addPairs<<<(rows * C / 2 + 255) / 256, 256>>>((__nv_bfloat162*)out, (const __nv_bfloat162*)in, rows * C / 2);
}
