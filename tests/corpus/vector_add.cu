// Element-wise sum of two vectors.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void vectorAdd(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 50000;
    size_t bytes = n * sizeof(float);
    float* hostA = (float*)malloc(bytes);
    float* hostC = (float*)malloc(bytes);
    for (int i = 0; i < n; ++i)
        hostA[i] = rand() / (float)RAND_MAX;
    float *a, *b, *c;
    if (cudaMalloc((void**)&a, bytes) != cudaSuccess)
        return EXIT_FAILURE;
    cudaMalloc((void**)&b, bytes);
    cudaMalloc((void**)&c, bytes);
    cudaMemcpy(a, hostA, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, hostA, bytes, cudaMemcpyHostToDevice);
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    vectorAdd<<<blocks, threads>>>(a, b, c, n);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        fprintf(stderr, "launch failed: %s\n", cudaGetErrorString(err));
        return EXIT_FAILURE;
    }
    cudaMemcpy(hostC, c, bytes, cudaMemcpyDeviceToHost);
    printf("%f\n", hostC[0]);
    free(hostA);
    free(hostC);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return 0;
}
