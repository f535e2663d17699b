__global__ void stencil_plane_guarded(const float* in, float* out, int h, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {
        out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] +
                                 in[(y - 1) * w + x] + in[(y + 1) * w + x]);
    }
}

__global__ void stencil_plane_flat(const float* in, float* out, int h, int w) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int y = t / w;
    int x = t % w;
    if (y < 1 || y >= h - 1 || x < 1 || x >= w - 1)
        return;
    out[t] = 0.2f * (in[t] + in[t - 1] + in[t + 1] + in[t - w] + in[t + w]);
}

__global__ void stencil_plane_pointer(const float* in, float* out, int h, int w) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x == 0 || x >= w - 1)
        return;
    for (int y = 1; y < h - 1; ++y) {
        const float* centre = in + y * w + x;
        float sum = centre[0];
        sum += centre[-1];
        sum += centre[1];
        sum += *(centre - w);
        sum += *(centre + w);
        out[y * w + x] = 0.2f * sum;
    }
}
