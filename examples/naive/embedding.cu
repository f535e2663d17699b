// Looks rows up in a table, one thread a token: neighbouring lanes write rows apart.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void embedding(int* tokens, float* table, float* out, int count, int width) {
    int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= count)
        return;
    for (int column = 0; column < width; ++column)
        out[token * width + column] = table[tokens[token] * width + column];
}

int main() {
    const int count = 8192, width = 128, words = 1000;
    std::vector<int> tokens(count);
    std::vector<float> table(words * width), out(count * width);
    for (int i = 0; i < count; ++i)
        tokens[i] = i * 37 % words;
    for (int i = 0; i < words * width; ++i)
        table[i] = static_cast<float>(i % 1009);
    int* deviceTokens;
    float *deviceTable, *deviceOut;
    cudaMalloc(&deviceTokens, count * sizeof(int));
    cudaMalloc(&deviceTable, words * width * sizeof(float));
    cudaMalloc(&deviceOut, count * width * sizeof(float));
    cudaMemcpy(deviceTokens, tokens.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceTable, table.data(), words * width * sizeof(float), cudaMemcpyHostToDevice);
    embedding<<<(count + 63) / 64, 64>>>(deviceTokens, deviceTable, deviceOut, count, width);
    cudaMemcpy(out.data(), deviceOut, count * width * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; ++i)
        for (int column = 0; column < width; ++column)
            wrong += out[i * width + column] != table[tokens[i] * width + column];
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceTokens);
    cudaFree(deviceTable);
    cudaFree(deviceOut);
    return wrong != 0;
}
