__global__ void permute_flat(const float* in, float* out, int c, int h, int w) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= c * h * w)
        return;
    int x = t % w;
    int rest = t / w;
    int y = rest % h;
    int k = rest / h;
    out[(y * w + x) * c + k] = in[(k * h + y) * w + x];
}

__global__ void permute_cube(const float* in, float* out, int c, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < w && y < h && k < c)
        out[y * w * c + x * c + k] = in[k * h * w + y * w + x];
}

__global__ void permute_loops(const float* in, float* out, int c, int h, int w) {
    const size_t x = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t y = blockIdx.y;
    if (x >= w || y >= h)
        return;
    float* to = out + (y * w + x) * c;
    for (int k = 0; k < c; ++k)
        to[k] = in[((size_t)k * h + y) * w + x];
}
