// Kernels as macro libraries write them: loops, checks, indices and whole kernels from macros.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                        \
    do {                                                                                   \
        cudaError_t status_ = (call);                                                      \
        if (status_ != cudaSuccess) {                                                      \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

#define KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define THREADS 192
#define BLOCKS(n) (((n) + THREADS - 1) / THREADS)
#define IDX3(z, y, x) (((z) * NY + (y)) * NX + (x))
#define SQR(v) ((v) * (v))
#define GLOBAL_INDEX (blockIdx.x * blockDim.x + threadIdx.x)

#define UNARY_KERNEL(name, expression)                     \
    __global__ void name(const float* in, float* out, int n) { \
        KERNEL_LOOP(i, n) {                                \
            const float v = in[i];                         \
            out[i] = (expression);                         \
        }                                                  \
    }

UNARY_KERNEL(squareAll, v * v)
UNARY_KERNEL(sigmoidAll, 1.0f / (1.0f + expf(-v)))
UNARY_KERNEL(leakyAll, v > 0 ? v : 0.01f * v)

#define BINARY_KERNEL(name, T, op)                                                \
    __global__ void name##_##T(const T* a, const T* b, T* c, int n) {             \
        int i = GLOBAL_INDEX;                                                     \
        if (i < n)                                                                \
            c[i] = a[i] op b[i];                                                  \
    }
BINARY_KERNEL(add, float, +)
BINARY_KERNEL(mul, double, *)
BINARY_KERNEL(bitxor, unsigned, ^)

#ifndef NX
#define NX 48
#define NY 20
#define NZ 12
#endif

__global__ void laplacian(const float* u, float* lap) {
    int x = GLOBAL_INDEX, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= NX - 1 || y >= NY - 1 || z >= NZ - 1)
        return;
    lap[IDX3(z, y, x)] = u[IDX3(z, y, x - 1)] + u[IDX3(z, y, x + 1)] + u[IDX3(z, y - 1, x)] + u[IDX3(z, y + 1, x)] +
                         u[IDX3(z - 1, y, x)] + u[IDX3(z + 1, y, x)] - 6.0f * u[IDX3(z, y, x)];
}

__global__ void distances(const float* a, const float* b, float* out, int n, int m)
{
    KERNEL_LOOP(pair, n * m)
    {
        int i = pair / m, j = pair % m;
        float d = 0;
#pragma unroll
        for (int k = 0; k < 3; k++) d += SQR(a[i * 3 + k] - b[j * 3 + k]);
        out[pair] = sqrtf(d);
    }
}

#if defined(USE_DOUBLE)
typedef double real;
#else
typedef float real;
#endif

__global__ void axpbyReal(real alpha, const real* x, real beta, real* y, int n) {
    const int i = GLOBAL_INDEX;
    if (i < n) y[i] = alpha * x[i] + beta * y[i];
}

int main(void) {
    float *a, *b, *c;
    double* d;
    unsigned* u;
    const int n = 20000;
    CHECK(cudaMalloc((void**)&a, n * sizeof(float)));
    CHECK(cudaMalloc((void**)&b, n * sizeof(float)));
    CHECK(cudaMalloc((void**)&c, n * sizeof(float)));
    CHECK(cudaMalloc((void**)&d, n * sizeof(double)));
    CHECK(cudaMalloc((void**)&u, n * sizeof(unsigned)));
    squareAll<<<BLOCKS(n), THREADS>>>(a, b, n);
    sigmoidAll<<<BLOCKS(n) / 4, THREADS>>>(a, b, n);
    leakyAll<<<BLOCKS(n), THREADS>>>(a, b, n);
    add_float<<<BLOCKS(n), THREADS>>>(a, b, c, n);
    mul_double<<<BLOCKS(n), THREADS>>>(d, d, d, n);
    bitxor_unsigned<<<BLOCKS(n), THREADS>>>(u, u, u, n);
    laplacian<<<dim3((NX + 15) / 16, (NY + 3) / 4, NZ), dim3(16, 4)>>>(a, b);
    distances<<<16, THREADS>>>(a, b, c, 100, 150);
    axpbyReal<<<BLOCKS(n), THREADS>>>(2, (const real*)a, 3, (real*)b, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
