// Maps over arrays: each byte is touched once. What script/bench-advice reads of each kernel is in the line above it, see
// advice.mjs.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// expert: memory-bandwidth; vectorized-access; none
__global__ void axpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = a * x[i] + y[i];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void axpyAnySize(size_t n, float a, const float* __restrict__ x, float* __restrict__ y) {
    const size_t stride = static_cast<size_t>(blockDim.x) * gridDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] += a * x[i];
}

// expert: memory-bandwidth; none; memory-level-parallelism
__global__ void addQuads(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ sum, int quads) {
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q < quads) {
        const float4 u = a[q], v = b[q];
        sum[q] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
}

template <typename T>
struct Relu {
    __device__ T operator()(T value) const { return value > T(0) ? value : T(0); }
};

// expert: memory-bandwidth; vectorized-access; none
template <typename T, typename Op>
__global__ void mapInto(T* out, const T* in, unsigned count, Op op) {
    auto at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count)
        out[at] = op(in[at]);
}

// expert: memory-bandwidth; vectorized-math; vectorized-access
__global__ void scaleHalves(__half* values, __half factor, int n) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < n)
        values[i] = __hmul(values[i], factor);
}

// expert: memory-bandwidth; none; vectorized-access
__global__ void fmaHalfPairs(const __half2* a, const __half2* b, __half2* c, int pairs) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i < pairs)
        c[i] = __hfma2(a[i], b[i], c[i]);
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void triad(double* __restrict__ a, const double* __restrict__ b, const double* __restrict__ c, double s, long n) {
    const long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] = b[i] + s * c[i];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void addImages(const float* left, const float* right, float* out, int width, int height) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < width && row < height)
        out[row * width + col] = left[row * width + col] + right[row * width + col];
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void clampMoved(float* p, float low, float high, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    p += i;
    float v = *p;
    v = v < low ? low : v;
    v = v > high ? high : v;
    *p = v;
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void quantize(const float* __restrict__ in, signed char* __restrict__ out, float scale, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = static_cast<signed char>(rintf(fminf(fmaxf(in[i] * scale, -127.f), 127.f)));
}

// expert: memory-bandwidth; none; vectorized-access
__global__ void complexProduct(const float2* a, const float2* b, float2* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 x = a[i], y = b[i];
        c[i] = make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
    }
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void addBias(float* activations, const float* bias, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        activations[i] += bias[i % columns];
}

#define FOR_EACH_ELEMENT(i, n) \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

// expert: memory-bandwidth; vectorized-access; none
__global__ void fillWith(float* data, float value, int n) {
    FOR_EACH_ELEMENT(i, n) { data[i] = value; }
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void selectByMask(const int* mask, const float* yes, const float* no, float* out, int n) {
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (tid < n) {
        if (mask[tid])
            out[tid] = yes[tid];
        else
            out[tid] = no[tid];
    }
}

struct Field {
    float* u;
    float* v;
    int size;
};

// expert: memory-bandwidth; vectorized-access; none
__global__ void advance(Field field, float dt) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < field.size)
        field.u[i] += dt * field.v[i];
}

// expert: memory-bandwidth; vectorized-access; memory-level-parallelism
__global__ void fourTermSum(const float* a, const float* b, const float* c, const float* d, float* out, int n) {
    const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        const int i = first + k * blockDim.x;
        if (i < n)
            out[i] = a[i] + b[i] + c[i] + d[i];
    }
}

// expert: memory-bandwidth; kernel-fusion; vectorized-access
__global__ void squareAll(const float* x, float* t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        t[i] = x[i] * x[i];
}

// expert: memory-bandwidth; kernel-fusion; vectorized-access
__global__ void subtractAll(const float* t, const float* m, float* r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        r[i] = t[i] - m[i];
}

void elementwise(float* a, float* b, float* c, float* d, float* e, double* u, double* v, double* w, __half* h, __half2* p,
                 __half2* q, __half2* r, signed char* bytes, int* mask, int n, int width, int height) {
    const int blocks = (n + 255) / 256;
    axpy<<<blocks, 256>>>(n, 2.f, a, b);
    axpyAnySize<<<1024, 256>>>(n, 2.f, a, b);
    addQuads<<<blocks, 256>>>((const float4*)a, (const float4*)b, (float4*)c, n / 4);
    mapInto<<<blocks, 256>>>(b, a, n, Relu<float>());
    scaleHalves<<<blocks, 256>>>(h, __float2half(0.5f), n);
    fmaHalfPairs<<<blocks, 256>>>(p, q, r, n / 2);
    triad<<<blocks, 256>>>(u, v, w, 3.0, n);
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    addImages<<<grid, block>>>(a, b, c, width, height);
    clampMoved<<<blocks, 256>>>(a, -1.f, 1.f, n);
    quantize<<<blocks, 256>>>(a, bytes, 127.f, n);
    complexProduct<<<blocks, 256>>>((float2*)a, (float2*)b, (float2*)c, n / 2);
    addBias<<<blocks, 256>>>(a, b, height, width);
    fillWith<<<1024, 256>>>(a, 0.f, n);
    selectByMask<<<blocks, 256>>>(mask, a, b, c, n);
    advance<<<blocks, 256>>>(Field{a, b, n}, 0.1f);
    fourTermSum<<<(n + 1023) / 1024, 256>>>(a, b, c, d, e, n);
}

void deviations(const float* x, float* t, const float* m, float* r, int n) {
    const int blocks = (n + 255) / 256;
    squareAll<<<blocks, 256>>>(x, t, n);
    subtractAll<<<blocks, 256>>>(t, m, r, n);
}
