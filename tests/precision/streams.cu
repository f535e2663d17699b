// A pipeline on two streams: chunks are copied, worked on and copied back.
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void toDecibel(const short* samples, float* level, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        level[i] = 20.0f * log10f(fabsf(samples[i] / 32768.0f) + 1e-6f);
}

__global__ void smooth(const float* level, float* out, int n, int radius) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    int used = 0;
    for (int d = -radius; d <= radius; ++d) {
        if (i + d >= 0 && i + d < n) {
            sum += level[i + d];
            used++;
        }
    }
    out[i] = sum / used;
}

__global__ void __launch_bounds__(128) loudestOfChunk(const float* level, float* loudest, int perChunk) {
    __shared__ float shared[128];
    const float* chunk = level + (size_t)blockIdx.x * perChunk;
    float most = -1e9f;
    for (int i = threadIdx.x; i < perChunk; i += 128)
        most = max(most, chunk[i]);
    shared[threadIdx.x] = most;
    __syncthreads();
#pragma unroll
    for (int s = 64; s >= 1; s >>= 1) {
        if (threadIdx.x < s)
            shared[threadIdx.x] = max(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        loudest[blockIdx.x] = shared[0];
}

__global__ void interleave(const short* left, const short* right, short2* both, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) both[i] = make_short2(left[i], right[i]);
}

__global__ void gate(float* level, const float* loudest, int chunks, int perChunk, float below) {
    for (int chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
        bool silent = loudest[chunk] < below;
        for (int i = threadIdx.x; i < perChunk; i += blockDim.x)
            if (silent)
                level[chunk * perChunk + i] = below;
    }
}

int main() {
    const int chunks = 6, perChunk = 3000;
    std::vector<short> host(chunks * perChunk);
    for (size_t i = 0; i < host.size(); ++i)
        host[i] = short(i * 7919 % 65536 - 32768);
    short* samples;
    short2* both;
    float *level, *out, *loudest;
    cudaMalloc(&samples, host.size() * sizeof(short));
    cudaMalloc(&both, host.size() * sizeof(short2));
    cudaMalloc(&level, host.size() * sizeof(float));
    cudaMalloc(&out, host.size() * sizeof(float));
    cudaMalloc(&loudest, chunks * sizeof(float));
    cudaStream_t streams[2];
    for (auto& stream : streams)
        cudaStreamCreate(&stream);
    for (int c = 0; c < chunks; ++c) {
        cudaStream_t stream = streams[c % 2];
        cudaMemcpyAsync(samples + c * perChunk, host.data() + c * perChunk, perChunk * sizeof(short), cudaMemcpyHostToDevice, stream);
        toDecibel<<<(perChunk + 127) / 128, 128, 0, stream>>>(samples + c * perChunk, level + c * perChunk, perChunk);
        smooth<<<(perChunk + 127) / 128, 128, 0, stream>>>(level + c * perChunk, out + c * perChunk, perChunk, 4);
    }
    cudaDeviceSynchronize();
    loudestOfChunk<<<chunks, 128>>>(out, loudest, perChunk);
    gate<<<4, 256>>>(out, loudest, chunks, perChunk, -40.0f);
    interleave<<<(perChunk + 255) / 256, 256>>>(samples, samples, both, perChunk);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (auto& stream : streams)
        cudaStreamDestroy(stream);
}
