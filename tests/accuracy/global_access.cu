// Loads and stores of global memory, one pattern a kernel.
#include "run.h"

#include <cuda_fp16.h>

__global__ void copyCoalesced(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

// One element off the sector: a request touches five sectors.
__global__ void copyShifted(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i + 1];
}

__global__ void copyStrideTwo(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[2 * i];
}

// Lanes walk down a column: each has a sector of its own.
__global__ void sumColumns(const float* in, float* out, int width, int height) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= height)
        return;
    float sum = 0;
    for (int column = 0; column < width; ++column)
        sum += in[row * width + column];
    out[row] = sum;
}

// kernelskill: launch gather<<<512, 256>>>(n=131072, indices=rand[131072, 0..131072], in=rand[131072])
__global__ void gather(const float* in, const int* indices, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[indices[i]];
}

__global__ void broadcast(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[blockIdx.x];
}

__global__ void scaleHalf(const __half* in, __half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __hmul(in[i], __float2half(2.0f));
}

__global__ void scaleHalf2(const __half2* in, __half2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __hmul2(in[i], in[i]);
}

__global__ void copyFloat4(const float4* in, float4* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

__global__ void addDouble(const double* a, const double* b, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] + b[i];
}

__global__ void invertBytes(const unsigned char* in, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 255 - in[i];
}

struct Particle {
    float x, y, z;
};

// An array of structures: twelve bytes between lanes.
__global__ void moveParticles(Particle* particles, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    particles[i].x += dt;
    particles[i].y += dt;
    particles[i].z += dt;
}

__global__ void saxpyGridStride(float a, const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

int main() {
    const int n = 131072;
    float* a = filled<float>(4 * n + 1);
    float* b = filled<float>(4 * n + 1);
    copyCoalesced<<<n / 256, 256>>>(a, b, n);
    copyShifted<<<n / 256, 256>>>(a, b, n);
    copyStrideTwo<<<n / 256, 256>>>(a, b, n);
    sumColumns<<<1024 / 128, 128>>>(a, b, 64, 1024);
    gather<<<n / 256, 256>>>(a, integers(n, n), b, n);
    broadcast<<<n / 256, 256>>>(a, b, n);
    scaleHalf<<<n / 256, 256>>>(reinterpret_cast<__half*>(a), reinterpret_cast<__half*>(b), n);
    scaleHalf2<<<n / 256, 256>>>(reinterpret_cast<__half2*>(a), reinterpret_cast<__half2*>(b), n);
    copyFloat4<<<n / 256, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b), n);
    double* d = filled<double>(n);
    addDouble<<<n / 256, 256>>>(d, d, filled<double>(n), n);
    invertBytes<<<n / 256, 256>>>(reinterpret_cast<unsigned char*>(a),
                                  reinterpret_cast<unsigned char*>(b), n);
    moveParticles<<<n / 256, 256>>>(reinterpret_cast<Particle*>(a), 0.5f, n);
    saxpyGridStride<<<64, 256>>>(2.0f, a, b, n);
    return finish();
}
