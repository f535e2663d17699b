// Kernels over views and inside classes, as C++ programs of some size have them.
#include <cuda_runtime.h>
#include <initializer_list>

template <typename T> class View2D {
public:
    __host__ __device__ View2D(T* data, int rows, int columns) : data_(data), rows_(rows), columns_(columns) {}
    __host__ __device__ T& operator()(int r, int c) const { return data_[r * columns_ + c]; }
    __host__ __device__ int rows() const { return rows_; }
    __host__ __device__ int columns() const { return columns_; }

private:
    T* data_;
    int rows_, columns_;
};

template <typename T> __global__ void scaleView(View2D<T> view, T factor) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < view.rows() && c < view.columns())
        view(r, c) *= factor;
}

struct Extent {
    int begin, end;
    __host__ __device__ int size() const { return end - begin; }
};

__global__ void fillRange(int* out, Extent extent, int value) {
    int i = extent.begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < extent.end)
        out[i] = value;
}

namespace detail {
__device__ __forceinline__ float mixed(float a, float b, float t) { return fmaf(t, b - a, a); }
} // namespace detail

// The view is made inside: the kernel's own parameters are plain.
__global__ void crossFade(const float* first, const float* second, float* out, int rows, int columns) {
    const View2D<const float> a(first, rows, columns), b(second, rows, columns);
    View2D<float> result(out, rows, columns);
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y;
    if (c < columns)
        result(r, c) = detail::mixed(a(r, c), b(r, c), float(c) / columns);
}

struct Accumulator {
    float sum = 0, compensation = 0;
    __device__ void add(float v) {
        float y = v - compensation;
        float t = sum + y;
        compensation = (t - sum) - y;
        sum = t;
    }
};

__global__ void compensatedRowSums(const float* in, float* out, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    Accumulator total;
    for (int c = 0; c < columns; ++c)
        total.add(in[r * columns + c]);
    out[r] = total.sum;
}

__global__ void countAbove(const float* in, float threshold, unsigned* counter, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > threshold)
        atomicAdd(counter, 1u);
}

__global__ void rescale(float* data, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float span = high - low;
        data[i] = (data[i] - low) / span;
    }
}

class Image {
public:
    Image(int rows, int columns) : rows_(rows), columns_(columns) { cudaMalloc(&data_, bytes()); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() { cudaFree(data_); }

    void scale(float factor) {
        dim3 block{32, 8};
        dim3 grid((columns_ + block.x - 1) / block.x, (rows_ + block.y - 1) / block.y);
        scaleView<<<grid, block>>>(View2D<float>(data_, rows_, columns_), factor);
    }
    void fadeTo(const Image& other) {
        crossFade<<<dim3((columns_ + 127) / 128, rows_), 128>>>(data_, other.data_, data_, rows_, columns_);
    }
    void sumRows(float* out) const { compensatedRowSums<<<(rows_ + 63) / 64, 64>>>(data_, out, rows_, columns_); }
    unsigned above(float threshold, unsigned* counter) const {
        countAbove<<<(rows_ * columns_ + 255) / 256, 256>>>(data_, threshold, counter, rows_ * columns_);
        unsigned result = 0;
        cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
        return result;
    }
    void normalise() {
        const int n = rows_ * columns_;
        rescale<<<(n + 255) / 256, 256>>>(data_, -1.0f, 3.0f, n);
    }

private:
    size_t bytes() const { return sizeof(float) * rows_ * columns_; }
    float* data_ = nullptr;
    int rows_, columns_;
};

int main() {
    Image a(60, 200), b(60, 200);
    float* sums;
    unsigned* counter;
    int* marks;
    cudaMalloc(&sums, 60 * sizeof(float));
    cudaMalloc(&counter, sizeof(unsigned));
    cudaMalloc(&marks, 1000 * sizeof(int));
    a.scale(2.0f);
    a.fadeTo(b);
    a.sumRows(sums);
    a.above(0.5f, counter);
    a.normalise();
    fillRange<<<4, 128>>>(marks, Extent{100, 600}, 7);
    return cudaDeviceSynchronize();
}
