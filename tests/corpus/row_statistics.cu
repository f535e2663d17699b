// Means and norms of rows; the kernels are told the size of their blocks, one by an argument, one by its template.
#include <cuda_runtime.h>

__global__ void rowMeans(float* means, const float* in, int width, int blockSize) {
    extern __shared__ float shared[];
    int tid = threadIdx.x;
    const float* row = in + blockIdx.x * width;
    float total = 0.0f;
    for (int i = tid; i < width; i += blockSize)
        total += row[i];
    shared[tid] = total;
    __syncthreads();
    for (int stride = blockSize / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride)
            shared[tid] += shared[tid + stride];
    }
    if (tid == 0)
        means[blockIdx.x] = shared[0] / width;
}

template <int blockSize>
__global__ void rowPeaks(float* peaks, const float* in, int width) {
    __shared__ float shared[blockSize];
    int tid = threadIdx.x;
    const float* row = in + blockIdx.x * width;
    float peak = 0.0f;
    for (int i = tid; i < width; i += blockSize)
        peak = fmaxf(peak, fabsf(row[i]));
    shared[tid] = peak;
    __syncthreads();
    for (int stride = blockSize / 2; stride > 0; stride >>= 1) {
        if (tid < stride)
            shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
        __syncthreads();
    }
    if (tid == 0)
        peaks[blockIdx.x] = shared[0];
}

int main() {
    const int rows = 64, width = 768;
    const int blockSize = 128;
    float *in, *means, *peaks;
    cudaMalloc(&in, rows * width * sizeof(float));
    cudaMalloc(&means, rows * sizeof(float));
    cudaMalloc(&peaks, rows * sizeof(float));
    rowMeans<<<rows, blockSize, blockSize * sizeof(float)>>>(means, in, width, blockSize);
    rowPeaks<blockSize><<<rows, blockSize>>>(peaks, in, width);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(means);
    cudaFree(peaks);
}
