// Data that is larger than what the GPU is to hold at once, or that comes bit by bit: copied in parts, worked on, copied back.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define GPU(call)                                                                     \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) {                                                  \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

static void must(cudaError_t status) {
    if (status != cudaSuccess)
        exit(2);
}

__global__ void brighten(const unsigned char* in, unsigned char* out, int n, float gain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = in[i] * gain;
        out[i] = value > 255.0f ? 255 : (unsigned char)value;
    }
}

__global__ void magnitudes(float2* signal, int begin, int end) {
    const int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= end)
        return;
    const float2 z = signal[i];
    signal[i] = make_float2(sqrtf(z.x * z.x + z.y * z.y), 0.0f);
}

__global__ void mixRows(const float* table, float* mixed, const float* weights, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (column < columns)
        mixed[row * columns + column] = table[row * columns + column] * weights[column];
}

__global__ void decay(float* state, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        state[i] *= 0.99f;
}

// Frames of a film through one pair of buffers that holds them all.
void brightenFilm(const unsigned char* film, unsigned char* result) {
    constexpr int pixels = 1920 * 1080, frames = 24;
    unsigned char *pinned, *in, *out;
    GPU(cudaMallocHost(&pinned, frames * pixels));
    GPU(cudaMalloc(&in, frames * pixels));
    GPU(cudaMalloc(&out, frames * pixels));
    std::copy(film, film + frames * pixels, pinned);
    for (int frame = 0; frame < frames; ++frame) {
        GPU(cudaMemcpyAsync(in + frame * pixels, pinned + frame * pixels, pixels, cudaMemcpyHostToDevice));
        brighten<<<(pixels + 255) / 256, 256>>>(in + frame * pixels, out + frame * pixels, pixels, 1.2f);
        GPU(cudaGetLastError());
        GPU(cudaMemcpyAsync(pinned + frame * pixels, out + frame * pixels, pixels, cudaMemcpyDeviceToHost));
    }
    GPU(cudaDeviceSynchronize());
    std::copy(pinned, pinned + frames * pixels, result);
    GPU(cudaFree(out));
    GPU(cudaFree(in));
    GPU(cudaFreeHost(pinned));
}

// The kernel is told where its part begins; the last part is smaller.
void detect(float2* samples, cudaStream_t stream) {
    const int all = 5000000, part = 1 << 20;
    float2* signal = nullptr;
    float2* locked = nullptr;
    must(cudaHostAlloc((void**)&locked, all * sizeof(float2), cudaHostAllocDefault));
    must(cudaMalloc((void**)&signal, all * sizeof(float2)));
    for (int i = 0; i < all; i++)
        locked[i] = samples[i];
    for (int begin = 0; begin < all; begin += part) {
        const int count = std::min(part, all - begin);
        const size_t bytes = count * sizeof(float2);
        must(cudaMemcpyAsync(&signal[begin], &locked[begin], bytes, cudaMemcpyHostToDevice, stream));
        magnitudes<<<(part + 127) / 128, 128, 0, stream>>>(signal, begin, begin + count);
        must(cudaGetLastError());
        must(cudaMemcpyAsync(&locked[begin], &signal[begin], bytes, cudaMemcpyDeviceToHost, stream));
    }
    must(cudaStreamSynchronize(stream));
    for (int i = 0; i < all; i++)
        samples[i] = locked[i];
    must(cudaFree(signal));
    must(cudaFreeHost(locked));
}

// Panels of a table, all by the same weights.
void mix(const float* weights) {
    const int columns = 4096, rows = 256, panels = 8;
    const dim3 block(256);
    const dim3 grid(columns / 256, rows);
    float *pinned, *table, *mixed;
    cudaMallocHost(&pinned, panels * rows * columns * sizeof(float));
    cudaMalloc(&table, panels * rows * columns * sizeof(float));
    cudaMalloc(&mixed, panels * rows * columns * sizeof(float));
    for (int i = 0; i < panels * rows * columns; ++i)
        pinned[i] = i % 97;
    for (int pass = 0; pass < 3; ++pass) {
        for (int panel = 0; panel < panels; ++panel) {
            float* from = table + panel * rows * columns;
            float* to = mixed + panel * rows * columns;
            cudaMemcpyAsync(from, pinned + panel * rows * columns, rows * columns * sizeof(float), cudaMemcpyHostToDevice);
            mixRows<<<grid, block>>>(from, to, weights, columns);
            cudaMemcpyAsync(pinned + panel * rows * columns, to, rows * columns * sizeof(float), cudaMemcpyDeviceToHost);
        }
    }
    cudaDeviceSynchronize();
    printf("%f\n", pinned[5]);
    cudaFree(mixed);
    cudaFree(table);
    cudaFreeHost(pinned);
}

// Each step needs the one before it: these rounds cannot run side by side.
void settle(float* history) {
    const int n = 1 << 20, steps = 16;
    float *pinned, *state;
    cudaMallocHost(&pinned, steps * n * sizeof(float));
    cudaMalloc(&state, n * sizeof(float));
    cudaMemset(state, 0, n * sizeof(float));
    for (int step = 0; step < steps; ++step) {
        decay<<<256, 256>>>(state, n);
        cudaMemcpyAsync(pinned + step * n, state, n * sizeof(float), cudaMemcpyDeviceToHost);
    }
    cudaDeviceSynchronize();
    std::copy(pinned, pinned + steps * n, history);
    cudaFree(state);
    cudaFreeHost(pinned);
}

int main() {
    unsigned char* film = (unsigned char*)calloc(24 * 1920 * 1080, 1);
    brightenFilm(film, film);
    float2* samples = (float2*)calloc(5000000, sizeof(float2));
    detect(samples, 0);
    float* weights;
    cudaMalloc(&weights, 4096 * sizeof(float));
    cudaMemset(weights, 0, 4096 * sizeof(float));
    mix(weights);
    float* history = (float*)calloc(16 << 20, sizeof(float));
    settle(history);
    printf("%d %f %f\n", film[7], samples[3].x, history[9]);
}
