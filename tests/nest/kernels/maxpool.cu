__global__ void maxpool_plane(const float* in, float* out, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        float top = in[2 * y * (2 * w) + 2 * x];
        top = fmaxf(top, in[2 * y * (2 * w) + 2 * x + 1]);
        top = fmaxf(top, in[(2 * y + 1) * (2 * w) + 2 * x]);
        top = fmaxf(top, in[(2 * y + 1) * (2 * w) + 2 * x + 1]);
        out[y * w + x] = top;
    }
}

__global__ void maxpool_flat(const float* in, float* out, int h, int w) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= h * w)
        return;
    int y = t / w, x = t % w;
    int wide = w * 2;
    const float* corner = in + 2 * y * wide + 2 * x;
    float a = fmaxf(corner[0], corner[1]);
    float b = fmaxf(corner[wide], corner[wide + 1]);
    out[y * w + x] = fmaxf(a, b);
}

__global__ void maxpool_rows(const float* in, float* out, int h, int w) {
    const int y = blockIdx.x;
    if (y >= h)
        return;
    const float* upper = in + (2 * y) * (2 * w);
    const float* lower = upper + 2 * w;
    float* to = out + y * w;
    for (int x = threadIdx.x; x < w; x += blockDim.x)
        to[x] = fmaxf(fmaxf(upper[2 * x], upper[2 * x + 1]), fmaxf(lower[2 * x], lower[2 * x + 1]));
}
