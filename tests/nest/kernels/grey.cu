struct Pixel {
    unsigned char r, g, b;
};

__global__ void grey_plane(const Pixel* in, unsigned char* out, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        Pixel p = in[y * w + x];
        out[y * w + x] = (unsigned char)(0.3f * p.r + 0.59f * p.g + 0.11f * p.b);
    }
}

__global__ void grey_flat(const Pixel* in, unsigned char* out, int h, int w) {
    for (size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x; t < (size_t)h * w;
         t += (size_t)gridDim.x * blockDim.x) {
        const size_t y = t / w, x = t % w;
        const Pixel p = in[y * w + x];
        out[y * w + x] = (unsigned char)(0.3f * p.r + 0.59f * p.g + 0.11f * p.b);
    }
}

__global__ void grey_rows(const Pixel* in, unsigned char* out, int h, int w) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h)
        return;
    const Pixel* row = in + y * w;
    unsigned char* to = out + y * w;
    for (int x = 0; x < w; ++x) {
        const Pixel p = *row++;
        *to++ = (unsigned char)(0.3f * p.r + 0.59f * p.g + 0.11f * p.b);
    }
}
