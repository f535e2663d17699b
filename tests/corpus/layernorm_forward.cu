// Layer normalisation, a warp a row; mean and reciprocal deviation are kept for the backward pass.
#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdlib.h>

static int ceilDiv(int a, int b) { return (a + b - 1) / b; }

__global__ void layernormForward(float* __restrict__ out, float* __restrict__ mean, float* __restrict__ rstd,
                                 const float* __restrict__ inp, const float* __restrict__ weight,
                                 const float* __restrict__ bias, int N, int C) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N)
        return;
    const float* x = inp + idx * C;
    float sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size())
        sum += x[i];
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    float m = sum / C;
    if (warp.thread_rank() == 0 && mean != nullptr)
        __stcs(mean + idx, m);
    sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        float diff = x[i] - m;
        sum += diff * diff;
    }
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    float s = rsqrtf(sum / C + 1e-5f);
    if (warp.thread_rank() == 0 && rstd != nullptr)
        __stcs(rstd + idx, s);
    float* o = out + idx * C;
    for (int c = warp.thread_rank(); c < C; c += warp.size()) {
        float n = s * (__ldcs(x + c) - m);
        __stcs(o + c, n * weight[c] + bias[c]);
    }
}

void layernorm(float* out, float* mean, float* rstd, const float* inp, const float* weight, const float* bias, int B,
               int T, int C, const int block_size) {
    assert(block_size % 32 == 0);
    const int N = B * T;
    const int grid_size = ceilDiv(N * 32, block_size);
    layernormForward<<<grid_size, block_size>>>(out, mean, rstd, inp, weight, bias, N, C);
}
