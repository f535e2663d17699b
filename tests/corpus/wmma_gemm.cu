// A 16x16x16 tensor-core product a warp.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void wmmaGemm(const half* a, const half* b, float* c, int M, int N, int K) {
    int warpM = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, warpN = blockIdx.y * blockDim.y + threadIdx.y;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> aFrag;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> bFrag;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < K; i += 16) {
        if (warpM * 16 < M && warpN * 16 < N) {
            wmma::load_matrix_sync(aFrag, a + warpM * 16 * K + i, K);
            wmma::load_matrix_sync(bFrag, b + warpN * 16 * K + i, K);
            wmma::mma_sync(acc, aFrag, bFrag, acc);
        }
    }
    if (warpM * 16 < M && warpN * 16 < N)
        wmma::store_matrix_sync(c + warpM * 16 * N + warpN * 16, acc, N, wmma::mem_row_major);
}
void gemm(const half* a, const half* b, float* c, int M, int N, int K) {
    dim3 block(128, 4);
    wmmaGemm<<<dim3((M + 63) / 64, (N + 63) / 64), block>>>(a, b, c, M, N, K);
}
