// Times loops that copy a part, work on it and copy it back, as stream-overlap edits them: docs/measurements/skills-h200.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace {

void check(cudaError_t status) {
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        std::exit(1);
    }
}

double milliseconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::milli>(now).count();
}

/// The first time warms up.
void print(const char* name, std::vector<double> times, double sum) {
    std::sort(times.begin() + 1, times.end());
    std::printf("%s: median %.3f ms (%.3f to %.3f), sum %.0f\n", name,
                times[1 + (times.size() - 1) / 2], times[1], times.back(), sum);
}

} // namespace

__global__ void brighten(const unsigned char* in, unsigned char* out, int n, float gain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = fminf(in[i] * gain, 255.0f);
}

__global__ void magnitudes(float2* signal, int begin, int end) {
    const int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= end)
        return;
    const float2 z = signal[i];
    signal[i] = make_float2(sqrtf(z.x * z.x + z.y * z.y), 0.0f);
}

// Frames of a film through one pair of buffers that holds them all.
void brightenFilm(std::vector<double>& times) {
    constexpr int pixels = 1920 * 1080, frames = 24;
    unsigned char *pinned, *in, *out;
    check(cudaMallocHost(&pinned, frames * pixels));
    check(cudaMalloc(&in, frames * pixels));
    check(cudaMalloc(&out, frames * pixels));
    for (int i = 0; i < frames * pixels; ++i)
        pinned[i] = i * 7 % 251;
    for (int run = 0; run < 22; ++run) {
        const double start = milliseconds();
        for (int frame = 0; frame < frames; ++frame) {
            check(cudaMemcpyAsync(in + frame * pixels, pinned + frame * pixels, pixels,
                                  cudaMemcpyHostToDevice));
            brighten<<<(pixels + 255) / 256, 256>>>(in + frame * pixels, out + frame * pixels,
                                                    pixels, 1.2f);
            check(cudaGetLastError());
            check(cudaMemcpyAsync(pinned + frame * pixels, out + frame * pixels, pixels,
                                  cudaMemcpyDeviceToHost));
        }
        check(cudaDeviceSynchronize());
        times.push_back(milliseconds() - start);
    }
    double sum = 0;
    for (int i = 0; i < frames * pixels; ++i)
        sum += pinned[i] * double(i % 3);
    print("24 frames of 2 MB", times, sum);
    check(cudaFree(out));
    check(cudaFree(in));
    check(cudaFreeHost(pinned));
}

// The kernel is told where its part begins; the last part is smaller.
void detect(std::vector<double>& times) {
    const int all = 5000000, part = 1 << 20;
    float2* signal = nullptr;
    float2* locked = nullptr;
    check(cudaHostAlloc((void**)&locked, all * sizeof(float2), cudaHostAllocDefault));
    check(cudaMalloc((void**)&signal, all * sizeof(float2)));
    for (int i = 0; i < all; i++)
        locked[i] = make_float2(i % 13, i % 7);
    for (int run = 0; run < 22; ++run) {
        const double start = milliseconds();
        for (int begin = 0; begin < all; begin += part) {
            const int count = std::min(part, all - begin);
            const size_t bytes = count * sizeof(float2);
            check(cudaMemcpyAsync(&signal[begin], &locked[begin], bytes, cudaMemcpyHostToDevice));
            magnitudes<<<(part + 127) / 128, 128>>>(signal, begin, begin + count);
            check(cudaGetLastError());
            check(cudaMemcpyAsync(&locked[begin], &signal[begin], bytes, cudaMemcpyDeviceToHost));
        }
        check(cudaDeviceSynchronize());
        times.push_back(milliseconds() - start);
    }
    double sum = 0;
    for (int i = 0; i < all; i++)
        sum += locked[i].x * double(i % 3);
    print("5 parts of 8 MB", times, sum);
    check(cudaFree(signal));
    check(cudaFreeHost(locked));
}

int main() {
    std::vector<double> film, signal;
    brightenFilm(film);
    detect(signal);
}
