struct Tensor {
    float* data;
    int rows;
    int columns;
};

__global__ void batched_scale_struct(Tensor t, const float* s, int count) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    if (j < t.columns && i < t.rows && k < count)
        t.data[(k * t.rows + i) * t.columns + j] *= s[k];
}

__global__ void batched_scale_flat(Tensor t, const float* s, int count) {
    const int rows = t.rows, columns = t.columns;
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count * rows * columns)
        return;
    int j = e % columns;
    int i = (e / columns) % rows;
    int k = e / columns / rows;
    t.data[(k * rows + i) * columns + j] = t.data[(k * rows + i) * columns + j] * s[k];
}

__global__ void batched_scale_loops(Tensor t, const float* s, int count) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= t.columns)
        return;
    for (int k = 0; k < count; ++k) {
        float* plane = t.data + k * t.rows * t.columns;
        for (int i = 0; i < t.rows; ++i) {
            float& value = plane[i * t.columns + j];
            value *= s[k];
        }
    }
}
