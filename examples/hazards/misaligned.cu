// misaligned: a float4 is read at an address that is no multiple of 16.
#include <cuda_runtime.h>

__global__ void sumsOfFour(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 4 < n) {
        float4 four = *reinterpret_cast<const float4*>(&in[4 * i + 1]);
        out[i] = four.x + four.y + four.z + four.w;
    }
}

__global__ void sumsOfFourRight(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 four = *reinterpret_cast<const float4*>(&in[4 * i]);
        out[i] = four.x + four.y + four.z + four.w;
    }
}

int main() {
    const int n = 16384;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    sumsOfFour<<<n / 4 / 256, 256>>>(in, out, n);
    sumsOfFourRight<<<n / 4 / 256, 256>>>(in, out, n);
    cudaDeviceSynchronize();
}
