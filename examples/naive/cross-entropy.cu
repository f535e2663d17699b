// The loss of each row's right class, one thread a row.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void crossEntropy(float* logits, int* labels, float* losses, int rows, int classes) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float largest = logits[row * classes];
    for (int i = 1; i < classes; ++i)
        largest = fmaxf(largest, logits[row * classes + i]);
    float sum = 0.0f;
    for (int i = 0; i < classes; ++i)
        sum += expf(logits[row * classes + i] - largest);
    int label = labels[row] % classes;
    losses[row] = logf(sum) + largest - logits[row * classes + label];
}

int main() {
    const int rows = 8192, classes = 128;
    std::vector<float> logits(rows * classes), losses(rows);
    std::vector<int> labels(rows);
    for (int i = 0; i < rows * classes; ++i)
        logits[i] = static_cast<float>(i % 29) * 0.25f - 3.0f;
    for (int i = 0; i < rows; ++i)
        labels[i] = i % classes;
    float *deviceLogits, *deviceLosses;
    int* deviceLabels;
    cudaMalloc(&deviceLogits, rows * classes * sizeof(float));
    cudaMalloc(&deviceLabels, rows * sizeof(int));
    cudaMalloc(&deviceLosses, rows * sizeof(float));
    cudaMemcpy(deviceLogits, logits.data(), rows * classes * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceLabels, labels.data(), rows * sizeof(int), cudaMemcpyHostToDevice);
    crossEntropy<<<(rows + 127) / 128, 128>>>(deviceLogits, deviceLabels, deviceLosses, rows,
                                              classes);
    cudaMemcpy(losses.data(), deviceLosses, rows * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int i = 0; i < classes; ++i)
            sum += std::exp(static_cast<double>(logits[row * classes + i]));
        const double expected = std::log(sum) - logits[row * classes + labels[row]];
        wrong += std::fabs(losses[row] - expected) > 1e-3;
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceLogits);
    cudaFree(deviceLabels);
    cudaFree(deviceLosses);
    return wrong != 0;
}
