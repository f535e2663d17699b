// A small library of generic kernels: the work is a template argument, the launch a function.
#pragma once
#include <cstddef>
#include <cuda_runtime.h>
#include <type_traits>

namespace policy {

template <typename T> struct Plus {
    static constexpr bool isCommutative = true;
    __device__ static T identity() { return T(0); }
    __device__ static T apply(T a, T b) { return a + b; }
};

template <typename T> struct Largest {
    static constexpr bool isCommutative = true;
    __device__ static T identity() { return T(-1000000); }
    __device__ static T apply(T a, T b) { return a < b ? b : a; }
};

template <typename T, typename Operation, int BLOCK>
__global__ void reduceBlocks(const T* in, T* out, int n) {
    __shared__ T cell[BLOCK];
    T value = Operation::identity();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x)
        value = Operation::apply(value, in[i]);
    cell[threadIdx.x] = value;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            cell[threadIdx.x] = Operation::apply(cell[threadIdx.x], cell[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = cell[0];
}

template <typename In, typename Out, typename Function>
__global__ void transform(const In* in, Out* out, std::size_t n, Function f) {
    std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = f(in[i]);
}

template <bool TRANSPOSED, typename T>
__global__ void pack(const T* matrix, T* packed, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) {
        if constexpr (TRANSPOSED)
            packed[c * rows + r] = matrix[r * columns + c];
        else
            packed[r * columns + c] = matrix[r * columns + c];
    }
}

template <typename T, int N> struct Fixed {
    T item[N];
};

template <typename T, int N>
__global__ void addFixed(const Fixed<T, N>* a, const Fixed<T, N>* b, Fixed<T, N>* sum, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        for (int k = 0; k < N; ++k)
            sum[i].item[k] = a[i].item[k] + b[i].item[k];
}

template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
__global__ void lerp(const T* a, const T* b, T t, T* out, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a[i] + t * (b[i] - a[i]);
}

template <typename T, typename Operation> void reduceInto(const T* in, T* out, int n) {
    constexpr int block = 128;
    reduceBlocks<T, Operation, block><<<16, block>>>(in, out, n);
}

} // namespace policy
