// Adds a residual and normalises each row by its root mean square, one block a row.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void residualNorm(float* in, float* residual, float* out, int columns, float epsilon) {
    __shared__ float squares[256];
    int tid = threadIdx.x;
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int column = tid; column < columns; column += blockDim.x) {
        float value = in[row * columns + column] + residual[row * columns + column];
        sum += value * value;
    }
    squares[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            squares[tid] += squares[tid + s];
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(squares[0] / columns + epsilon);
    for (int column = tid; column < columns; column += blockDim.x)
        out[row * columns + column] =
            (in[row * columns + column] + residual[row * columns + column]) * scale;
}

int main() {
    const int rows = 2048, columns = 1024;
    std::vector<float> in(rows * columns), out(rows * columns);
    for (int i = 0; i < rows * columns; ++i)
        in[i] = static_cast<float>(i % 23) * 0.25f - 2.0f;
    std::vector<float> residual(rows * columns);
    for (int i = 0; i < rows * columns; ++i)
        residual[i] = static_cast<float>(i % 11) * 0.5f;
    float* deviceResidual;
    cudaMalloc(&deviceResidual, rows * columns * sizeof(float));
    float *deviceIn, *deviceOut;
    cudaMalloc(&deviceIn, rows * columns * sizeof(float));
    cudaMalloc(&deviceOut, rows * columns * sizeof(float));
    cudaMemcpy(deviceIn, in.data(), rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceResidual, residual.data(), rows * columns * sizeof(float),
               cudaMemcpyHostToDevice);
    residualNorm<<<rows, 256>>>(deviceIn, deviceResidual, deviceOut, columns, 1e-5f);
    cudaMemcpy(out.data(), deviceOut, rows * columns * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int row = 0; row < rows; ++row) {
        double squares = 0;
        for (int column = 0; column < columns; ++column)
            squares += std::pow(in[row * columns + column] + residual[row * columns + column], 2);
        for (int column = 0; column < columns; ++column) {
            const double sum = in[row * columns + column] + residual[row * columns + column];
            const double expected = sum / std::sqrt(squares / columns + 1e-5);
            wrong += std::fabs(out[row * columns + column] - expected) > 1e-4;
        }
    }
    std::printf("%d wrong\n", wrong);
    cudaFree(deviceIn);
    cudaFree(deviceOut);
    cudaFree(deviceResidual);
    return wrong != 0;
}
