// Instances of the kernels in policies.cuh, with functors of several kinds.
#include "policies.cuh"

namespace {

struct Affine {
    float scale, shift;
    __device__ float operator()(float x) const { return scale * x + shift; }
};

struct ToInt {
    __device__ int operator()(double x) const { return static_cast<int>(x * 100.0); }
};

template <int DEGREE> struct Polynomial {
    float coefficient[DEGREE + 1];
    __device__ float operator()(float x) const {
        float y = coefficient[DEGREE];
        for (int k = DEGREE - 1; k >= 0; --k)
            y = y * x + coefficient[k];
        return y;
    }
};

// Counts what a predicate accepts; the predicate's type is deduced at the launch.
template <typename T, typename Predicate> __global__ void countIf(const T* in, int n, Predicate accepts, int* count) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n && accepts(in[i]))
        atomicAdd(count, 1);
}

struct Between {
    float low, high;
    __device__ bool operator()(float v) const { return low <= v && v < high; }
};

} // namespace

int main() {
    const int n = 10007;
    float *a, *b, *c;
    double* d;
    int* i;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&c, n * sizeof(float));
    cudaMalloc(&d, n * sizeof(double));
    cudaMalloc(&i, n * sizeof(int));
    const int blocks = (n + 255) / 256;
    policy::transform<<<blocks, 256>>>(a, b, n, Affine{2.0f, 1.0f});
    policy::transform<double, int><<<blocks, 256>>>(d, i, n, ToInt{});
    policy::transform<<<blocks, 256>>>(a, c, n, Polynomial<3>{{1.0f, 0.5f, 0.25f, 0.125f}});
    policy::reduceInto<float, policy::Plus<float>>(a, b, n);
    policy::reduceInto<int, policy::Largest<int>>(i, i, n);
    policy::pack<true><<<dim3(5, 4), dim3(16, 16)>>>(a, b, 60, 70);
    policy::pack<false><<<dim3(5, 4), dim3(16, 16)>>>(d, d, 60, 70);
    policy::addFixed<float, 3><<<8, 128>>>((policy::Fixed<float, 3>*)a, (policy::Fixed<float, 3>*)b, (policy::Fixed<float, 3>*)c, 1000);
    policy::lerp<<<20, 128>>>(a, b, 0.3f, c, 10007u);
    countIf<<<blocks, 256>>>(a, n, Between{0.25f, 0.5f}, i);
    return cudaDeviceSynchronize();
}
