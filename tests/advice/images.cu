// Pictures: filters, resampling, colours.
#include <cuda_runtime.h>

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void boxBlur3(const float* in, float* out, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0.f;
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (x + dx >= 0 && x + dx < w && y + dy >= 0 && y + dy < h) {
                sum += in[(y + dy) * w + x + dx];
                ++count;
            }
    out[y * w + x] = sum / count;
}

// expert: uncoalesced-access; vectorized-access; shared-memory-tiling
__global__ void halveImage(const float* in, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w / 2 && y < h / 2)
        out[y * (w / 2) + x] = 0.25f * (in[2 * y * w + 2 * x] + in[2 * y * w + 2 * x + 1] + in[(2 * y + 1) * w + 2 * x] +
                                        in[(2 * y + 1) * w + 2 * x + 1]);
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void threshold(const unsigned char* in, unsigned char* out, int level, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] > level ? 255 : 0;
}

// expert: compute|memory-bandwidth; fast-math-intrinsics; lookup-table
__global__ void gammaCorrect(const unsigned char* in, unsigned char* out, float gamma, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (unsigned char)(255.f * powf(in[i] / 255.f, gamma) + 0.5f);
}

// expert: memory-latency|memory-bandwidth|uncoalesced-access; texture-memory; none
__global__ void rotate(const float* in, float* out, int w, int h, float cosine, float sine) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const float sx = cosine * (x - w / 2) - sine * (y - h / 2) + w / 2;
    const float sy = sine * (x - w / 2) + cosine * (y - h / 2) + h / 2;
    const int ix = (int)floorf(sx), iy = (int)floorf(sy);
    out[y * w + x] = ix >= 0 && ix < w && iy >= 0 && iy < h ? in[iy * w + ix] : 0.f;
}

// expert: memory-latency|memory-bandwidth|uncoalesced-access; texture-memory; none
__global__ void resize(const float* __restrict__ in, float* __restrict__ out, int inWidth, int inHeight, int outWidth, int outHeight) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= outWidth || y >= outHeight)
        return;
    const float fx = (x + 0.5f) * inWidth / outWidth - 0.5f, fy = (y + 0.5f) * inHeight / outHeight - 0.5f;
    const int x0 = max(0, (int)fx), y0 = max(0, (int)fy), x1 = min(x0 + 1, inWidth - 1), y1 = min(y0 + 1, inHeight - 1);
    const float ax = fx - x0, ay = fy - y0;
    out[y * outWidth + x] = (1 - ay) * ((1 - ax) * in[y0 * inWidth + x0] + ax * in[y0 * inWidth + x1]) +
                            ay * ((1 - ax) * in[y1 * inWidth + x0] + ax * in[y1 * inWidth + x1]);
}

// expert: uncoalesced-access; hierarchical-scan; coalesced-access
__global__ void integralRows(const unsigned char* in, unsigned* out, int w, int h) {
    const int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < h) {
        unsigned sum = 0;
        for (int x = 0; x < w; ++x) {
            sum += in[y * w + x];
            out[y * w + x] = sum;
        }
    }
}

// expert: uncoalesced-access; coalesced-access; row-per-warp
__global__ void boxBlurRows(const float* in, float* out, int w, int h, int r) {
    const unsigned y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h)
        return;
    const float* row = in + y * w;
    float* result = out + y * w;
    float sum = 0.f;
    for (int x = 0; x < r; ++x)
        sum += row[x];
    for (int x = r; x < w - r; ++x) {
        sum += row[x + r] - row[x - r];
        result[x] = sum / (2 * r + 1);
    }
}

// expert: compute|memory-bandwidth; fast-math-intrinsics; stencil-tiling
__global__ void bilateral(const float* in, float* out, int w, int h, int r, float spatial, float range) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < r || y < r || x >= w - r || y >= h - r)
        return;
    const float centre = in[y * w + x];
    float sum = 0.f, weights = 0.f;
    for (int dy = -r; dy <= r; ++dy)
        for (int dx = -r; dx <= r; ++dx) {
            const float v = in[(y + dy) * w + x + dx];
            const float weight = expf(-(dx * dx + dy * dy) * spatial - (v - centre) * (v - centre) * range);
            sum += weight * v;
            weights += weight;
        }
    out[y * w + x] = sum / weights;
}

// expert: memory-bandwidth; stencil-tiling; thread-coarsening
__global__ void erode(const unsigned char* in, unsigned char* out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        unsigned char least = 255;
        for (int dy = -r; dy <= r; ++dy)
            for (int dx = -r; dx <= r; ++dx) {
                int sx = min(max(x + dx, 0), w - 1), sy = min(max(y + dy, 0), h - 1);
                least = min(least, in[sy * w + sx]);
            }
        out[y * w + x] = least;
    }
}

// expert: memory-bandwidth; none; vectorized-access
__global__ void swapRedAndBlue(uchar4* pixels, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) {
        uchar4 p = pixels[y * width + x];
        pixels[y * width + x] = make_uchar4(p.z, p.y, p.x, p.w);
    }
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void blendFrames(const unsigned char* a, const unsigned char* b, unsigned char* out, int alpha, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = (a[i] * alpha + b[i] * (256 - alpha)) >> 8;
}

// expert: bank-conflicts; shared-memory-padding; swizzling
__global__ void flipTiles(const int* in, int* out, int n) {
    __shared__ int tile[16][16];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.x][threadIdx.y] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

void images(const float* in, float* out, unsigned char* p, unsigned char* q, unsigned char* r, uchar4* pixels, unsigned* sums,
            const int* i, int* j, int w, int h) {
    const dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    const int n = w * h, blocks = (n + 255) / 256;
    boxBlur3<<<grid, block>>>(in, out, w, h);
    halveImage<<<grid, block>>>(in, out, w, h);
    threshold<<<blocks, 256>>>(p, q, 100, n);
    gammaCorrect<<<blocks, 256>>>(p, q, 2.2f, n);
    rotate<<<grid, block>>>(in, out, w, h, 0.8f, 0.6f);
    resize<<<grid, block>>>(in, out, w, h, w / 3, h / 3);
    integralRows<<<(h + 127) / 128, 128>>>(p, sums, w, h);
    boxBlurRows<<<(h + 127) / 128, 128>>>(in, out, w, h, 5);
    bilateral<<<grid, block>>>(in, out, w, h, 4, 0.1f, 0.2f);
    erode<<<grid, block>>>(p, q, w, h, 2);
    swapRedAndBlue<<<grid, block>>>(pixels, w, h);
    blendFrames<<<1024, 256>>>(p, q, r, 100, n);
    flipTiles<<<dim3(w / 16, w / 16), dim3(16, 16)>>>(i, j, w);
}
