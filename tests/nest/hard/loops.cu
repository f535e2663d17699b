// Loops and guards of many kinds.
__global__ void shiftedStart(const float* a, float* c, int n) {
    for (int j = 0; j < 3; ++j)
        for (int i = threadIdx.x + j; i < n; i += blockDim.x)
            c[i] = a[j];
}

__global__ void flattenedStart(float* c, int n) {
    int first = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += blockDim.x * blockDim.y)
        c[i] = 1.0f;
}

__global__ void downByThree(const float* a, float* c, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = n - 1; i >= 0; i -= 3)
        sum += a[i];
    if (t < n)
        c[t] = sum;
}

__global__ void testedLast(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        if (i < n)
            c[i] = a[i];
        i += gridDim.x * blockDim.x;
    } while (i < n);
}

__global__ void endless(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (;;) {
        if (i >= n)
            break;
        c[i] = a[i];
        i += gridDim.x * blockDim.x;
    }
}

__global__ void halved(float* c, int n) {
    int t = threadIdx.x;
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            c[blockIdx.x * blockDim.x + t] += c[blockIdx.x * blockDim.x + t + s];
        __syncthreads();
    }
}

__global__ void triangular(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 40)
        return;
    float sum = 0.0f;
    for (int j = 0; j <= i; ++j)
        for (int k = j; k < i; k += 2)
            sum += a[i * 40 + j] * a[k];
    c[i] = sum;
}

__global__ void switched(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    switch (i % 4) {
    case 0:
        c[i] = a[i];
        break;
    case 1:
        c[i] = a[n - 1 - i];
    case 2:
        c[i] += 1.0f;
        break;
    default:
        c[i] = 0.0f;
    }
}

__global__ void wrapped(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int left = (i + n - 1) % n, right = i + 1 == n ? 0 : i + 1;
    c[i] = a[left] + a[right] + a[min(max(i - 3, 0), n - 1)];
}

__global__ void twoCounters(const float* a, float* c, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int i = 0, j = n - 1; i < j; ++i, --j)
        sum += a[i] - a[j];
    if (t < n)
        c[t] = sum;
}

__global__ void leftEarly(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; ++k) {
        if (i + k >= n)
            return;
        if (k == 2)
            continue;
        c[i * 4 + k] = a[i + k];
    }
    c[i] = 1.0f;
}

__global__ void changedBound(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int end = i < n ? i % 7 : 0;
    for (int k = 0; k < end; ++k) {
        c[i * 8 + k] = a[k];
        if (k == 3)
            --end;
    }
}

__global__ void twoShapes(const float* a, float* c, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int j = 0; j < m; ++j)
            c[i * m + j] = a[i * m + j];
    for (int k = i; k < n * m; k += gridDim.x * blockDim.x)
        c[k] += 1.0f;
}

__device__ float picked(const float* a, int i) {
    return a[i];
}
__device__ float picked(const float* a, long long i) {
    return a[i + 1];
}
__device__ float picked(const float* a, unsigned i) {
    return a[i + 2];
}

__global__ void overloaded(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = picked(a, i) + picked(a, (long long)i) + picked(a, (unsigned)i);
}

__global__ void doubleBuffered(const float* a, float* c, int n) {
    __shared__ float tile[2][256];
    int t = threadIdx.x;
    tile[0][t] = a[t];
    for (int k = 0; k < 5; ++k) {
        __syncthreads();
        tile[(k + 1) & 1][t] = tile[k & 1][blockDim.x - 1 - t] + a[(k + 1) * blockDim.x + t];
    }
    if (blockIdx.x * blockDim.x + t < n)
        c[blockIdx.x * blockDim.x + t] = tile[1][t];
}

__global__ void missingBarrier(const float* a, float* c, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    for (int k = 0; k < 3; ++k) {
        tile[t] = a[k * blockDim.x + t];
        __syncthreads();
        c[(blockIdx.x * 3 + k) * blockDim.x + t] = tile[blockDim.x - 1 - t];
    }
}
