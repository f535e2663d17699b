// Filters of sampled signals: taps in constant memory, tables, channels side by side.
#include <cmath>
#include <cuda_runtime.h>

namespace dsp {

constexpr int kMaxTaps = 64;
__constant__ float taps[kMaxTaps];

__global__ void fir(const float* signal, float* filtered, int samples, int tapCount) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= samples)
        return;
    float sum = 0.0f;
    for (int k = 0; k < tapCount; ++k) {
        const int at = t - k;
        if (at >= 0)
            sum += taps[k] * signal[at];
    }
    filtered[t] = sum;
}

// A biquad has memory: each thread owns a channel and walks it in time.
__global__ void biquad(const float* in, float* out, int channels, int samples, float b0, float b1, float b2, float a1,
                       float a2) {
    const int c = threadIdx.x + blockDim.x * blockIdx.x;
    if (c < channels) {
        float x1 = 0, x2 = 0, y1 = 0, y2 = 0;
        for (int t = 0; t < samples; t++) {
            float x = in[c * samples + t];
            float y = b0 * x + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
            x2 = x1;
            x1 = x;
            y2 = y1;
            y1 = y;
            out[c * samples + t] = y;
        }
    }
}

__global__ void decimate(const float* in, float* out, int outputs, int factor) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < outputs; i += gridDim.x * blockDim.x)
        out[i] = in[i * factor];
}

__global__ void hannWindow(float* frame, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        float w = 0.5f - 0.5f * cosf(6.2831853f * i / (length - 1));
        frame[i] *= w;
    }
}

__global__ void powerSpectrum(const float2* bins, float* power, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float2 z = bins[i];
    power[i] = 10.0f * log10f(z.x * z.x + z.y * z.y + 1e-20f);
}

// Frames overlap by half: each sample gets the tail of one and the head of the next.
__global__ void overlapAdd(const float* frames, float* signal, int hop, int frameCount) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int total = hop * (frameCount + 1);
    if (i < total) {
        int f = i / hop, r = i % hop;
        float v = 0.f;
        if (f < frameCount) v += frames[f * 2 * hop + r];
        if (f > 0) v += frames[(f - 1) * 2 * hop + hop + r];
        signal[i] = v;
    }
}

} // namespace dsp

void filterAll(const float* signal, float* filtered, float* frames, float2* bins, float* power, const float* hostTaps) {
    const int samples = 30000;
    cudaMemcpyToSymbol(dsp::taps, hostTaps, 33 * sizeof(float));
    dsp::fir<<<(samples + 255) / 256, 256>>>(signal, filtered, samples, 33);
    dsp::biquad<<<2, 64>>>(signal, filtered, 100, 200, 0.2f, 0.4f, 0.2f, -0.3f, 0.1f);
    dsp::decimate<<<16, 128>>>(signal, filtered, samples / 4, 4);
    dsp::hannWindow<<<4, 256>>>(frames, 1024);
    dsp::powerSpectrum<<<(2049 + 127) / 128, 128>>>(bins, power, 2049);
    dsp::overlapAdd<<<(512 * 17 + 255) / 256, 256>>>(frames, filtered, 512, 16);
}
