// Kernels on template parameters: types, sizes, a functor and a dynamic shared array.
#include <cstddef>
template <class T> struct Square {
    __host__ __device__ T operator()(T x) const { return x * x; }
};
template <class T, int ITEMS, class Op> __global__ void mapItems(const T* in, T* out, size_t n, Op op) {
    size_t base = (size_t)blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    T item[ITEMS];
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        if (base + i * blockDim.x < n)
            item[i] = op(in[base + i * blockDim.x]);
#pragma unroll
    for (int i = 0; i < ITEMS; ++i)
        if (base + i * blockDim.x < n)
            out[base + i * blockDim.x] = item[i];
}
template <typename T, unsigned X, unsigned Y> __global__ void reverseTile(T* data) {
    __shared__ T tile[Y][X + 1];
    tile[threadIdx.y][threadIdx.x] = data[threadIdx.y * X + threadIdx.x];
    __syncthreads();
    data[threadIdx.y * X + threadIdx.x] = tile[Y - 1 - threadIdx.y][X - 1 - threadIdx.x];
}
__global__ void dynamicPair(float* out, int n) {
    extern __shared__ unsigned char raw[];
    float* floats = reinterpret_cast<float*>(raw);
    int* ints = reinterpret_cast<int*>(floats + n);
    if (threadIdx.x < n) {
        floats[threadIdx.x] = threadIdx.x * 0.5f;
        ints[threadIdx.x] = n - threadIdx.x;
    }
    __syncthreads();
    if (threadIdx.x < n)
        out[threadIdx.x] = floats[ints[threadIdx.x] - 1];
}
void run(float* f, double* d, int n) {
    mapItems<float, 4, Square<float>><<<(n + 1023) / 1024, 256>>>(f, f, n, Square<float>());
    reverseTile<double, 16, 8><<<1, dim3(16, 8)>>>(d);
    dynamicPair<<<1, 64, 64 * (sizeof(float) + sizeof(int))>>>(f, 64);
}
