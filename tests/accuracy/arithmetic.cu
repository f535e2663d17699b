// Arithmetic of each kind, and what functions cost in instructions: one a kernel.
#include "run.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void nbody(const float4* bodies, float4* forces, int n) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = bodies[i];
    float fx = 0, fy = 0, fz = 0;
    for (int start = 0; start < n; start += 128) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; ++j) {
            float dx = tile[j].x - mine.x, dy = tile[j].y - mine.y, dz = tile[j].z - mine.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float strength = tile[j].w * inverse * inverse * inverse;
            fx += strength * dx;
            fy += strength * dy;
            fz += strength * dz;
        }
        __syncthreads();
    }
    forces[i] = make_float4(fx, fy, fz, 0);
}

__global__ void hornerDouble(const double* in, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = in[i], sum = 0.25;
    for (int k = 0; k < 8; ++k)
        sum = sum * x + 0.5;
    out[i] = sum;
}

__global__ void axpyDouble(double a, const double* x, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void multiplyComplex(const float2* a, const float2* b, float2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 p = a[i], q = b[i];
    out[i] = make_float2(p.x * q.x - p.y * q.y, p.x * q.y + p.y * q.x);
}

// The product has two uses.
__global__ void sumAndDifference(const float* a, const float* b, float* sums, float* differences,
                                 int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float product = a[i] * b[i];
    sums[i] = product + a[i];
    differences[i] = product - b[i];
}

__global__ void mandelbrot(int* steps, int width, int limit) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = column * 0.01f - 2, cy = row * 0.01f - 1.25f, x = 0, y = 0;
    int step = 0;
    while (step < limit && x * x + y * y < 4) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        ++step;
    }
    steps[row * width + column] = step;
}

// kernelskill: launch axpyHalf2<<<256, 256>>>(a=1.5, x=rand[65536], y=rand[65536], n=65536)
__global__ void axpyHalf2(float a, const __half2* x, __half2* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}

__global__ void addHalf2(const __half2* x, __half2* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hadd2(x[i], y[i]);
}

__global__ void multiplyAddHalf(const __half* x, __half* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * x[i] + y[i];
}

__global__ void axpyBfloat2(const __nv_bfloat162* x, __nv_bfloat162* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2(x[i], x[i], y[i]);
}

// Converts, computes in float, converts back.
__global__ void scaleHalfInFloat(const __half* x, __half* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __float2half(__half2float(x[i]) * a + 1.0f);
}

// An index that only the run knows: nvcc selects among registers, where the array is that small.
// kernelskill: launch localArray<<<256, 256>>>(in=rand[1048576], order=rand[4, 0..16], n=65536)
__global__ void localArray(const float* in, const int* order, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float values[16];
    for (int k = 0; k < 16; ++k)
        values[k] = in[k * n + i];
    float sum = 0;
    for (int k = 0; k < 4; ++k)
        sum += values[order[k]];
    out[i] = sum;
}

// Every index is known once the loops are unrolled: an array in registers.
__global__ void registerArray(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float values[16];
    for (int k = 0; k < 16; ++k)
        values[k] = in[k * n + i];
    float sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += values[k] * values[15 - k];
    out[i] = sum;
}

#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
__global__ void ofExp(const float* in, float* out) {
    INDEX;
    out[i] = expf(in[i]);
}
__global__ void ofFastExp(const float* in, float* out) {
    INDEX;
    out[i] = __expf(in[i]);
}
__global__ void ofExp2(const float* in, float* out) {
    INDEX;
    out[i] = exp2f(in[i]);
}
__global__ void ofLog(const float* in, float* out) {
    INDEX;
    out[i] = logf(in[i]);
}
__global__ void ofFastLog(const float* in, float* out) {
    INDEX;
    out[i] = __logf(in[i]);
}
__global__ void ofLog2(const float* in, float* out) {
    INDEX;
    out[i] = log2f(in[i]);
}
__global__ void ofLog10(const float* in, float* out) {
    INDEX;
    out[i] = log10f(in[i]);
}
__global__ void ofLog1p(const float* in, float* out) {
    INDEX;
    out[i] = log1pf(in[i]);
}
__global__ void ofSin(const float* in, float* out) {
    INDEX;
    out[i] = sinf(in[i]);
}
__global__ void ofCos(const float* in, float* out) {
    INDEX;
    out[i] = cosf(in[i]);
}
__global__ void ofFastSin(const float* in, float* out) {
    INDEX;
    out[i] = __sinf(in[i]);
}
__global__ void ofTanh(const float* in, float* out) {
    INDEX;
    out[i] = tanhf(in[i]);
}
__global__ void ofErf(const float* in, float* out) {
    INDEX;
    out[i] = erff(in[i]);
}
__global__ void ofPow(const float* in, float* out) {
    INDEX;
    out[i] = powf(in[i], 2.5f);
}
__global__ void ofSqrt(const float* in, float* out) {
    INDEX;
    out[i] = sqrtf(in[i]);
}
__global__ void ofRsqrt(const float* in, float* out) {
    INDEX;
    out[i] = rsqrtf(in[i]);
}
__global__ void ofReciprocal(const float* in, float* out) {
    INDEX;
    out[i] = 1.0f / in[i];
}
__global__ void ofDivision(const float* in, float* out) {
    INDEX;
    out[i] = in[i] / out[i];
}
__global__ void ofFastDivision(const float* in, float* out) {
    INDEX;
    out[i] = __fdividef(in[i], out[i]);
}
__global__ void ofFloor(const float* in, float* out) {
    INDEX;
    out[i] = floorf(in[i]);
}
__global__ void ofMax(const float* in, float* out) {
    INDEX;
    out[i] = fmaxf(in[i], out[i]);
}
__global__ void ofConversion(const int* in, float* out) {
    INDEX;
    out[i] = static_cast<float>(in[i]);
}
__global__ void ofDoubleDivision(const double* in, double* out) {
    INDEX;
    out[i] = in[i] / out[i];
}
__global__ void ofDoubleReciprocal(const double* in, double* out) {
    INDEX;
    out[i] = 1.0 / in[i];
}
__global__ void ofDoubleSqrt(const double* in, double* out) {
    INDEX;
    out[i] = sqrt(in[i]);
}
__global__ void ofDoubleRsqrt(const double* in, double* out) {
    INDEX;
    out[i] = rsqrt(in[i]);
}
__global__ void ofDoubleExp(const double* in, double* out) {
    INDEX;
    out[i] = exp(in[i]);
}
__global__ void ofDoubleLog(const double* in, double* out) {
    INDEX;
    out[i] = log(in[i]);
}
__global__ void ofDoubleSin(const double* in, double* out) {
    INDEX;
    out[i] = sin(in[i]);
}

int main() {
    const int n = 65536;
    float* a = filled<float>(16 * n);
    float* b = filled<float>(16 * n);
    double* c = filled<double>(n);
    double* d = filled<double>(n);
    nbody<<<16, 128>>>(reinterpret_cast<float4*>(filled<float>(4 * 2048)),
                       reinterpret_cast<float4*>(filled<float>(4 * 2048)), 2048);
    hornerDouble<<<n / 256, 256>>>(c, d, n);
    axpyDouble<<<n / 256, 256>>>(1.5, c, d, n);
    multiplyComplex<<<n / 256, 256>>>(reinterpret_cast<float2*>(filled<float>(2 * n)),
                                      reinterpret_cast<float2*>(filled<float>(2 * n)),
                                      reinterpret_cast<float2*>(filled<float>(2 * n)), n);
    sumAndDifference<<<n / 256, 256>>>(a, b, filled<float>(n), filled<float>(n), n);
    mandelbrot<<<dim3(8, 32), dim3(32, 8)>>>(integers(n, 1), 256, 100);
    axpyHalf2<<<n / 256, 256>>>(1.5f, reinterpret_cast<__half2*>(filled<__half>(2 * n)),
                                reinterpret_cast<__half2*>(filled<__half>(2 * n)), n);
    addHalf2<<<n / 256, 256>>>(reinterpret_cast<__half2*>(filled<__half>(2 * n)),
                               reinterpret_cast<__half2*>(filled<__half>(2 * n)), n);
    multiplyAddHalf<<<n / 256, 256>>>(filled<__half>(n), filled<__half>(n), n);
    axpyBfloat2<<<n / 256, 256>>>(reinterpret_cast<__nv_bfloat162*>(filled<__nv_bfloat16>(2 * n)),
                                  reinterpret_cast<__nv_bfloat162*>(filled<__nv_bfloat16>(2 * n)),
                                  n);
    scaleHalfInFloat<<<n / 256, 256>>>(filled<__half>(n), filled<__half>(n), 1.5f, n);
    localArray<<<n / 256, 256>>>(a, integers(4, 16), b, n);
    registerArray<<<n / 256, 256>>>(a, b, n);
    ofExp<<<n / 256, 256>>>(a, b);
    ofFastExp<<<n / 256, 256>>>(a, b);
    ofExp2<<<n / 256, 256>>>(a, b);
    ofLog<<<n / 256, 256>>>(a, b);
    ofFastLog<<<n / 256, 256>>>(a, b);
    ofLog2<<<n / 256, 256>>>(a, b);
    ofLog10<<<n / 256, 256>>>(a, b);
    ofLog1p<<<n / 256, 256>>>(a, b);
    ofSin<<<n / 256, 256>>>(a, b);
    ofCos<<<n / 256, 256>>>(a, b);
    ofFastSin<<<n / 256, 256>>>(a, b);
    ofTanh<<<n / 256, 256>>>(a, b);
    ofErf<<<n / 256, 256>>>(a, b);
    ofPow<<<n / 256, 256>>>(a, b);
    ofSqrt<<<n / 256, 256>>>(a, b);
    ofRsqrt<<<n / 256, 256>>>(a, b);
    ofReciprocal<<<n / 256, 256>>>(a, b);
    ofDivision<<<n / 256, 256>>>(a, b);
    ofFastDivision<<<n / 256, 256>>>(a, b);
    ofFloor<<<n / 256, 256>>>(a, b);
    ofMax<<<n / 256, 256>>>(a, b);
    ofConversion<<<n / 256, 256>>>(integers(n, 1000), b);
    ofDoubleDivision<<<n / 256, 256>>>(c, d);
    ofDoubleReciprocal<<<n / 256, 256>>>(c, d);
    ofDoubleSqrt<<<n / 256, 256>>>(c, d);
    ofDoubleRsqrt<<<n / 256, 256>>>(c, d);
    ofDoubleExp<<<n / 256, 256>>>(c, d);
    ofDoubleLog<<<n / 256, 256>>>(c, d);
    ofDoubleSin<<<n / 256, 256>>>(c, d);
    return finish();
}
