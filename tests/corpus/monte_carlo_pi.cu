// Points in the quarter circle, with cuRAND's device generators.
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <cstdio>
__global__ void setup(curandState* states, unsigned long long seed, int n) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id < n)
        curand_init(seed, id, 0, &states[id]);
}
__global__ void countInside(curandState* states, unsigned long long* hits, int samples, int n) {
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id >= n)
        return;
    curandState local = states[id];
    unsigned long long inside = 0;
    for (int i = 0; i < samples; ++i) {
        float x = curand_uniform(&local), y = curand_uniform(&local);
        inside += x * x + y * y <= 1.0f;
    }
    states[id] = local;
    atomicAdd(hits, inside);
}
__global__ void gaussians(float* out, int n, unsigned long long seed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, i, 0, &state);
    float4 v = curand_normal4(&state);
    if (4 * i + 3 < n) {
        out[4 * i] = v.x;
        out[4 * i + 1] = v.y;
        out[4 * i + 2] = v.z;
        out[4 * i + 3] = v.w;
    }
}
int main() {
    const int n = 1024;
    curandState* states;
    unsigned long long *hits, host = 0;
    float* out;
    cudaMalloc((void**)&states, n * sizeof(curandState));
    cudaMalloc((void**)&hits, sizeof(*hits));
    cudaMalloc((void**)&out, n * sizeof(float));
    setup<<<n / 256, 256>>>(states, 1234ULL, n);
    countInside<<<n / 256, 256>>>(states, hits, 1000, n);
    gaussians<<<1, 256>>>(out, n, 42);
    cudaMemcpy(&host, hits, sizeof(host), cudaMemcpyDeviceToHost);
    printf("%g\n", 4.0 * host / n / 1000);
}
