// Token plus position embeddings, four floats a thread, and the scatter of their gradients.
#include <cuda_runtime.h>

__device__ inline float4 add_float4(const float4& a, const float4& b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void encoderForward(float4* out, const int* inp, const float4* wte, const float4* wpe, int B, int T, int C) {
    int C4 = C / 4;
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int N = B * T * C4;
    if (idx < N) {
        int bt = idx / C4;
        int t = bt % T;
        int c4 = idx % C4;
        int ix = inp[bt];
        out[idx] = add_float4(wte[ix * C4 + c4], __ldg(&wpe[t * C4 + c4]));
    }
}

__global__ void encoderBackward(float* dwte, float* dwpe, const float* dout, const int* inp, int B, int T, int C) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= B * T * C)
        return;
    int bt = idx / C, c = idx % C;
    atomicAdd(&dwte[inp[bt] * C + c], dout[idx]);
    atomicAdd(&dwpe[bt % T * C + c], dout[idx]);
}

void encoder(float* out, const int* inp, const float* wte, const float* wpe, int B, int T, int C) {
    const int block_size = 512;
    encoderForward<<<(B * T * C / 4 + block_size - 1) / block_size, block_size>>>(
        (float4*)out, inp, (const float4*)wte, (const float4*)wpe, B, T, C);
}
