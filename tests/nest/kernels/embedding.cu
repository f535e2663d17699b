__global__ void embedding_plane(const float* table, const int* ids, float* out, int count, int width) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int t = blockIdx.y;
    if (t < count && d < width)
        out[t * width + d] = table[ids[t] * width + d];
}

__global__ void embedding_flat(const float* table, const int* ids, float* out, int count, int width) {
    long long e = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= (long long)count * width)
        return;
    long long t = e / width;
    long long d = e % width;
    out[t * width + d] = table[(long long)ids[t] * width + d];
}

__global__ void embedding_rows(const float* table, const int* ids, float* out, int count, int width) {
    const int t = blockIdx.x;
    if (t >= count)
        return;
    const float* from = table + ids[t] * width;
    float* to = out + t * width;
    for (int d = threadIdx.x; d < width; d += blockDim.x)
        to[d] = from[d];
}
