// Pointers that change what they point to.
__global__ void chosen(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float* from = i % 3 == 0 ? a : b;
    if (i < n)
        c[i] = from[i];
}

__global__ void chosenByLaunch(float* a, float* b, int n, int flip) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* to = a;
    const float* from = b;
    if (flip > 100) {
        to = b;
        from = a;
    }
    if (i < n)
        to[i] = from[i] + 1.0f;
}

__global__ void swapped(float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* from = a;
    float* to = b;
    for (int round = 0; round < 4; ++round) {
        if (i < n)
            to[i] = from[i] * 0.5f;
        float* other = from;
        from = to;
        to = other;
    }
}

__global__ void taken(const float* a, float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float* p = a;
    for (int k = 0; k < 3; ++k) {
        if (i < n)
            c[i * 3 + k] = p[i];
        p = b;
    }
}

__global__ void sharedHalves(const float* a, float* c, int n) {
    __shared__ float even[256];
    __shared__ float odd[256];
    float* mine = threadIdx.x % 2 == 0 ? even : odd;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n)
        c[i] = even[threadIdx.x / 2 * 2];
}

__global__ void walkedBack(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float* p = a + i + 8;
    float sum = 0.0f;
    while (p > a + i) {
        --p;
        sum += *p;
    }
    c[i] = sum;
}

__device__ void advance(const float*& p, int by) {
    p += by;
}

__global__ void advancedByReference(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float* p = a;
    advance(p, i);
    if (i < n)
        c[i] = *p;
    advance(p, 2);
    if (i < n)
        c[i] += *p;
}

__global__ void listed(float* a, float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float* all[2] = {a, b};
    if (i < n)
        c[i] = all[i % 2][i];
}
