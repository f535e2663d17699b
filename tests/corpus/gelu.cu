// GELU forward and backward over packed 128-bit loads.
#include <cuda_runtime.h>
#include <math.h>

#define GELU_SCALING_FACTOR sqrtf(2.0f / M_PI)

template <class ElementType> struct alignas(16) Packed128 {
    Packed128() = default;
    __device__ explicit Packed128(int4 bits) { memcpy(&payload, &bits, sizeof(bits)); }
    __device__ ElementType& operator[](int index) { return payload[index]; }
    __device__ const ElementType& operator[](int index) const { return payload[index]; }
    __device__ int4 get_bits() const {
        int4 bits;
        memcpy(&bits, &payload, sizeof(bits));
        return bits;
    }
    static constexpr const int size = sizeof(int4) / sizeof(ElementType);
    ElementType payload[size];
};
typedef Packed128<float> f128;

__device__ f128 load128cs(const float* address) { return f128{__ldcs(reinterpret_cast<const int4*>(address))}; }
__device__ void store128(float* target, f128 value) { *reinterpret_cast<int4*>(target) = value.get_bits(); }
__device__ void store128cs(float* target, f128 value) { __stcs(reinterpret_cast<int4*>(target), value.get_bits()); }

__global__ void geluForward(float* out, const float* inp) {
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * f128::size;
    f128 packed = load128cs(inp + idx), result;
    for (int k = 0; k < packed.size; ++k) {
        float x = packed[k];
        float cube = 0.044715f * x * x * x;
        result[k] = 0.5f * x * (1.0f + tanhf(GELU_SCALING_FACTOR * (x + cube)));
    }
    store128(out + idx, result);
}

__global__ void geluBackward(float* dinp, const float* inp, const float* dout) {
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * f128::size;
    f128 in = load128cs(inp + idx), grad = load128cs(dout + idx), result;
    for (int k = 0; k < in.size; ++k) {
        float x = in[k];
        float arg = GELU_SCALING_FACTOR * (x + 0.044715f * x * x * x);
        float t = tanhf(arg);
        float c = coshf(arg);
        float local = 0.5f * (1.0f + t) + x * 0.5f / (c * c) * GELU_SCALING_FACTOR * (1.0f + 3.0f * 0.044715f * x * x);
        result[k] = local * grad[k];
    }
    store128cs(dinp + idx, result);
}

void launch(float* out, float* dinp, const float* inp, const float* dout, int N) {
    const int block_size = 128;
    geluForward<<<N / (block_size * f128::size), block_size>>>(out, inp);
    geluBackward<<<N / (block_size * f128::size), block_size>>>(dinp, inp, dout);
}
