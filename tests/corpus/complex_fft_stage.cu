// One radix-2 stage on complex numbers, in CUDA's and in own operators.
#include <cuComplex.h>
#include <math_constants.h>
typedef float2 Complex;
static __device__ __host__ inline Complex ComplexMul(Complex a, Complex b) {
    Complex c;
    c.x = a.x * b.x - a.y * b.y;
    c.y = a.x * b.y + a.y * b.x;
    return c;
}
__global__ void fftStage(Complex* data, int half, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2)
        return;
    int k = i % half, j = (i / half) * 2 * half + k;
    float s, c;
    sincosf(-CUDART_PI_F * k / half, &s, &c);
    Complex t = ComplexMul(data[j + half], make_float2(c, s)), u = data[j];
    data[j] = make_float2(u.x + t.x, u.y + t.y);
    data[j + half] = make_float2(u.x - t.x, u.y - t.y);
}
__global__ void power(const cuDoubleComplex* z, double* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = cuCabs(cuCmul(z[i], cuConj(z[i])));
}
void transform(Complex* data, int n, cuDoubleComplex* z, double* p) {
    for (int half = 1; half < n; half *= 2)
        fftStage<<<(n / 2 + 255) / 256, 256>>>(data, half, n);
    power<<<2, 64>>>(z, p, n);
}
