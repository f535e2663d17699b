// Counts bytes in 256 bins, an atomic on global memory for every element.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void histogram(unsigned char* in, unsigned int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i]], 1u);
}

int main() {
    const int n = 1 << 20;
    std::vector<unsigned char> in(n);
    std::vector<unsigned int> bins(256), expected(256);
    for (int i = 0; i < n; ++i) {
        in[i] = static_cast<unsigned char>(i * 7 + i / 251);
        ++expected[in[i]];
    }
    unsigned char* deviceIn;
    unsigned int* deviceBins;
    cudaMalloc(&deviceIn, n * sizeof(unsigned char));
    cudaMalloc(&deviceBins, 256 * sizeof(unsigned int));
    cudaMemcpy(deviceIn, in.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(deviceBins, 0, 256 * sizeof(unsigned int));
    histogram<<<(n + 255) / 256, 256>>>(deviceIn, deviceBins, n);
    cudaMemcpy(bins.data(), deviceBins, 256 * sizeof(unsigned int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int bin = 0; bin < 256; ++bin)
        wrong += bins[bin] != expected[bin];
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceBins);
    return wrong != 0;
}
