// Thrust beside a kernel of one's own.
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
struct Saxpy {
    const float a;
    Saxpy(float a) : a(a) {}
    __host__ __device__ float operator()(const float& x, const float& y) const { return a * x + y; }
};
__global__ void clampNegative(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = fmaxf(data[i], 0.0f);
}
int main() {
    thrust::host_vector<float> h(1000, 1.5f);
    thrust::device_vector<float> x = h, y(1000, -2.0f);
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy(2.0f));
    clampNegative<<<4, 256>>>(thrust::raw_pointer_cast(y.data()), 1000);
    thrust::sort(y.begin(), y.end());
    float sum = thrust::reduce(y.begin(), y.end(), 0.0f, thrust::plus<float>());
    std::printf("%f\n", sum);
}
