// Parts of vectors and objects, by pointers into them.
struct Item {
    float3 position;
    float weights[4];
    int kind;
};

__global__ void besideAField(const float2* v, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float* p = &v[i].x;
    c[i] = p[1];
}

__global__ void intoTheNext(const float4* v, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float* p = &v[i].z;
    c[i] = p[2] + *(p + 5);
}

__global__ void castToPairs(float4* v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2* pair = reinterpret_cast<float2*>(&v[i].z);
    pair[0] = make_float2(1.0f, 2.0f);
    reinterpret_cast<float2*>(v)[2 * i] = make_float2(3.0f, 4.0f);
}

__global__ void arrayWithin(Item* items, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float* w = items[i].weights;
    w[1] = c[i];
    *(w + 2) = w[1];
    float* p = &items[i].position.x;
    p[2] = w[3];
    ++items[i].kind;
}

__device__ double atomicLargest(double* place, double value) {
    if (*place < value)
        *place = value;
    return value;
}

__global__ void ownAtomic(double* out, const double* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicLargest(out + i, in[i]);
}
