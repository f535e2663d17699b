// out-of-bounds: the last thread reads one element past the end of its input.
#include <cuda_runtime.h>

__global__ void differences(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i + 1] - in[i];
}

__global__ void differencesRight(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        out[i] = in[i + 1] - in[i];
}

int main() {
    const int n = 10000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    differences<<<(n + 255) / 256, 256>>>(in, out, n);
    differencesRight<<<(n + 255) / 256, 256>>>(in, out, n);
    cudaDeviceSynchronize();
}
