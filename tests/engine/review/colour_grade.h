/// A kernel on pixels of bytes, whose constants the host copies: the subject of planted edits.
#pragma once

#include <string>

namespace kernelskill::engine {

inline const std::string saturate = R"(
struct Pixel { unsigned char r, g, b, a; };
template <typename T>
__device__ inline T clampTo(T v, T lo, T hi) { return v < lo ? lo : (v > hi ? hi : v); }
__constant__ float gain[4];
__global__ void colorGrade(const Pixel* __restrict__ in, Pixel* __restrict__ out, int width, int height, float bias)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const size_t idx = (size_t)y * width + x;
    Pixel p = in[idx];
    float r = p.r * gain[0] + bias;
    float g = p.g * gain[1] + bias;
    float b = p.b * gain[2] + bias;
    p.r = (unsigned char)clampTo(rintf(r), 0.0f, 255.0f);
    p.g = (unsigned char)clampTo(rintf(g), 0.0f, 255.0f);
    p.b = (unsigned char)clampTo(rintf(b), 0.0f, 255.0f);
    out[idx] = p;
}
void grade(const Pixel* in, Pixel* out, int width, int height, float bias, cudaStream_t s)
{
    float host[4] = {1.1f, 0.9f, 1.0f, 1.0f};
    cudaMemcpyToSymbolAsync(gain, host, sizeof(host), 0, cudaMemcpyHostToDevice, s);
    dim3 block(32, 8);
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    colorGrade<<<grid, block, 0, s>>>(in, out, width, height, bias);
}
int main()
{
    int w = 333, h = 97; Pixel *a, *b;
    cudaMalloc(&a, w * h * sizeof(Pixel)); cudaMalloc(&b, w * h * sizeof(Pixel));
    grade(a, b, w, h, 3.5f, 0);
}
)";

} // namespace kernelskill::engine
