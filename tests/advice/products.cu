// Contractions: matrices times matrices and vectors.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// expert: tensor-core-eligible|memory-bandwidth; shared-memory-tiling; register-tiling
__global__ void gemmNaive(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.f;
        for (int i = 0; i < k; ++i)
            sum += a[row * k + i] * b[i * n + col];
        c[row * n + col] = sum;
    }
}

// expert: tensor-core-eligible|memory-bandwidth; shared-memory-tiling; register-tiling
__global__ void gemmInPlace(float alpha, float beta, const float* A, const float* B, float* C, int size) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= size || j >= size)
        return;
    C[i * size + j] *= beta;
    for (int k = 0; k < size; k++)
        C[i * size + j] += alpha * A[i * size + k] * B[k * size + j];
}

// expert: tensor-core-eligible|memory-bandwidth; shared-memory-tiling; register-tiling
__global__ void gemmFlat(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y, int rows, int inner,
                         int columns) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= rows * columns)
        return;
    const int r = t / columns, c = t % columns;
    float acc = 0;
    for (int i = 0; i < inner; ++i)
        acc = fmaf(x[r * inner + i], w[i * columns + c], acc);
    y[t] = acc;
}

// expert: uncoalesced-access; shared-memory-tiling; coalesced-access
__global__ void gemmRowsByX(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        float sum = 0.f;
        for (int k = 0; k < n; ++k)
            sum += a[row * n + k] * b[k * n + col];
        c[row * n + col] = sum;
    }
}

#define TILE 16

// expert: tensor-core-eligible|synchronization|memory-bandwidth; register-tiling; thread-coarsening
__global__ void gemmTiled(const float* a, const float* b, float* c, int n) {
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.f;
    for (int t = 0; t < n / TILE; ++t) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// expert: tensor-core-eligible|synchronization|memory-bandwidth; register-tiling; thread-coarsening
template <int BLOCK>
__global__ void gemmTiledGuarded(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float sa[BLOCK * BLOCK], sb[BLOCK * BLOCK];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * BLOCK + ty, col = blockIdx.x * BLOCK + tx;
    float acc = 0.f;
    for (int k0 = 0; k0 < K; k0 += BLOCK) {
        sa[ty * BLOCK + tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.f;
        sb[ty * BLOCK + tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK; ++k)
            acc += sa[ty * BLOCK + k] * sb[k * BLOCK + tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}

// expert: tensor-core-eligible; tensor-cores; shared-memory-tiling
__global__ void gemmHalf(const __half* a, const __half* b, float* c, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0.f;
    for (int i = 0; i < k; ++i)
        sum += __half2float(a[row * k + i]) * __half2float(b[i * n + col]);
    c[row * n + col] = sum;
}

// expert: uncoalesced-access; row-per-warp; row-per-block
__global__ void matvec(const float* a, const float* x, float* y, int rows, int columns) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0.f;
        for (int c = 0; c < columns; ++c)
            sum += a[r * columns + c] * x[c];
        y[r] = sum;
    }
}

// expert: uncoalesced-access; row-per-warp; scalar-promotion
__global__ void matvecIntoMemory(double* A, double* x, double* tmp, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        tmp[i] = 0;
        for (int j = 0; j < N; j++)
            tmp[i] += A[i * N + j] * x[j];
    }
}

// expert: memory-bandwidth|occupancy|memory-latency; split-reduction; memory-level-parallelism
__global__ void transposedMatvec(const float* __restrict__ a, const float* __restrict__ x, float* __restrict__ y, int rows, int columns) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns)
        return;
    float sum = 0.f;
    for (int r = 0; r < rows; ++r)
        sum += a[r * columns + c] * x[r];
    y[c] = sum;
}

// expert: memory-bandwidth; vectorized-access; none
__global__ void rankOneUpdate(float* a, const float* u, const float* v, int rows, int columns) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    const int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns)
        a[r * columns + c] += u[r] * v[c];
}

// expert: tensor-core-eligible|uncoalesced-access|memory-bandwidth; shared-memory-tiling; register-tiling
__global__ void gram(const float* data, float* out, int vectors, int length) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < vectors && j < vectors) {
        float dot = 0.f;
        for (int k = 0; k < length; ++k)
            dot += data[i * length + k] * data[j * length + k];
        out[i * vectors + j] = dot;
    }
}

// expert: uncoalesced-access; structure-of-arrays; aos-staging
__global__ void smallProducts(const float* a, const float* b, float* c, int count) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= count)
        return;
    const float* x = a + 16 * p;
    const float* y = b + 16 * p;
    float* z = c + 16 * p;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            float sum = 0.f;
            for (int k = 0; k < 4; ++k)
                sum += x[4 * i + k] * y[4 * k + j];
            z[4 * i + j] = sum;
        }
}

// expert: tensor-core-eligible|memory-bandwidth; shared-memory-tiling; register-tiling
__global__ void batchedGemm(const double* a, const double* b, double* c, int n) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const size_t matrix = static_cast<size_t>(blockIdx.z) * n * n;
    if (row < n && col < n) {
        double sum = 0.0;
        for (int k = 0; k < n; ++k)
            sum += a[matrix + row * n + k] * b[matrix + k * n + col];
        c[matrix + row * n + col] = sum;
    }
}

// expert: tensor-core-eligible|memory-bandwidth; shared-memory-tiling; register-tiling
__global__ void pairDistances(const float* queries, const float* references, float* distances, int queryCount, int referenceCount,
                              int dims) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    const int q = blockIdx.y * blockDim.y + threadIdx.y;
    if (q >= queryCount || r >= referenceCount)
        return;
    float sum = 0.f;
    for (int d = 0; d < dims; ++d) {
        float difference = queries[d * queryCount + q] - references[d * referenceCount + r];
        sum += difference * difference;
    }
    distances[q * referenceCount + r] = sum;
}

// expert: uncoalesced-access; row-per-warp; row-per-block
__global__ void rowNorms(const float* a, float* norms, unsigned rows, unsigned columns) {
    const unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float* p = a + (size_t)r * columns;
    const float* end = p + columns;
    float sum = 0.f;
    while (p < end) {
        sum += *p * *p;
        ++p;
    }
    norms[r] = sqrtf(sum);
}

void products(float* a, float* b, float* c, double* x, double* y, double* z, __half* h, __half* g, int m, int n, int k) {
    const dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    gemmNaive<<<grid, block>>>(a, b, c, m, n, k);
    gemmInPlace<<<grid, block>>>(1.f, 0.f, a, b, c, n);
    gemmFlat<<<(m * n + 255) / 256, 256>>>(a, b, c, m, k, n);
    gemmRowsByX<<<grid, block>>>(a, b, c, n);
    gemmTiled<<<grid, block>>>(a, b, c, n);
    gemmTiledGuarded<32><<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(a, b, c, m, n, k);
    gemmHalf<<<grid, block>>>(h, g, c, m, n, k);
    matvec<<<(m + 255) / 256, 256>>>(a, b, c, m, n);
    matvecIntoMemory<<<(n + 255) / 256, 256>>>(x, y, z, n);
    transposedMatvec<<<(n + 255) / 256, 256>>>(a, b, c, m, n);
    rankOneUpdate<<<grid, block>>>(a, b, c, m, n);
    gram<<<grid, block>>>(a, c, n, k);
    smallProducts<<<(m + 127) / 128, 128>>>(a, b, c, m);
    batchedGemm<<<dim3((n + 15) / 16, (n + 15) / 16, 32), block>>>(x, y, z, n);
    pairDistances<<<grid, block>>>(a, b, c, m, n, k);
    rowNorms<<<(m + 255) / 256, 256>>>(a, c, m, n);
}
