// 128x128 block tile, 8x8 outputs a thread, float4 loads.
#include <cassert>
#include <cuda_runtime.h>

constexpr int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;

__global__ void __launch_bounds__((BM / TM) * (BN / TN), 2)
    sgemm(int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B, float beta,
          float* __restrict__ C) {
    __shared__ float As[BK][BM];
    __shared__ float Bs[BK][BN];
    const int tid = threadIdx.x;
    const int threadCol = tid % (BN / TN);
    const int threadRow = tid / (BN / TN);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float results[TM][TN] = {};
    float regM[TM], regN[TN];
    for (int base = 0; base < K; base += BK) {
        for (int i = tid; i < BM * BK; i += blockDim.x)
            As[i % BK][i / BK] = A[(i / BK) * K + i % BK];
        for (int i = tid; i < BK * BN / 4; i += blockDim.x) {
            int r = i / (BN / 4), c = i % (BN / 4) * 4;
            *reinterpret_cast<float4*>(&Bs[r][c]) = *reinterpret_cast<const float4*>(&B[r * N + c]);
        }
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i)
                regM[i] = As[k][threadRow * TM + i];
            for (int j = 0; j < TN; ++j)
                regN[j] = Bs[k][threadCol * TN + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j)
                    results[i][j] += regM[i] * regN[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; j += 4) {
            float4* out = reinterpret_cast<float4*>(&C[(threadRow * TM + i) * N + threadCol * TN + j]);
            float4 old = *out;
            old.x = alpha * results[i][j] + beta * old.x;
            old.y = alpha * results[i][j + 1] + beta * old.y;
            old.z = alpha * results[i][j + 2] + beta * old.z;
            old.w = alpha * results[i][j + 3] + beta * old.w;
            *out = old;
        }
}

void launch(int M, int N, int K, const float* A, const float* B, float* C, cudaStream_t stream) {
    assert(M % BM == 0 && N % BN == 0 && K % BK == 0);
    sgemm<<<dim3(N / BN, M / BM), (BM / TM) * (BN / TN), 0, stream>>>(M, N, K, 1.0f, A, B, 0.0f, C);
}
