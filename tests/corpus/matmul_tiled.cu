// Shared-memory tiles, the tile's width a template parameter.
#include <cuda_runtime.h>
#include <stdio.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                  \
        }                                                                                          \
    } while (0)

template <int TILE> __global__ void matmulTiled(float* C, const float* A, const float* B, int n) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float acc = 0;
    for (int t = 0; t < n / TILE; ++t) {
        As[ty][tx] = A[row * n + t * TILE + tx];
        Bs[ty][tx] = B[(t * TILE + ty) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * n + col] = acc;
}

int main() {
    const int n = 512;
    float *A, *B, *C;
    CHECK(cudaMalloc(&A, n * n * sizeof(float)));
    CHECK(cudaMalloc(&B, n * n * sizeof(float)));
    CHECK(cudaMalloc(&C, n * n * sizeof(float)));
    dim3 threads(32, 32);
    dim3 grid(n / threads.x, n / threads.y);
    matmulTiled<32><<<grid, threads>>>(C, A, B, n);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
