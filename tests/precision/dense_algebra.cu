// Dense linear algebra of small and middling size, in both precisions.
#include <cuda_runtime.h>

__global__ void gemvRows(const double* A, const double* x, double* y, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
    {
        double dot = 0.0;
        for (int j = 0; j < n; ++j)
            dot += A[i * n + j] * x[j];
        y[i] = dot;
    }
}

__global__ void gemvColumns(const float* A, const float* x, float* y, int m, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n)
        return;
    float dot = 0.0f;
    for (int i = 0; i < m; ++i)
        dot += A[i * n + j] * x[i];
    y[j] = dot;
}

__global__ void rankOne(float* A, const float* x, const float* y, float alpha, int m, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n)
        A[i * n + j] += alpha * x[i] * y[j];
}

// Column-major, as BLAS has it: i runs fastest.
__global__ void symmetrize(float* A, int n, int ld)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n && i > j)
        A[j + i * ld] = A[i + j * ld];
}

// A matrix a thread: everything in registers.
__global__ void invert3x3(const float* in, float* out, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    const float* m = in + 9 * t;
    float* r = out + 9 * t;
    float c0 = m[4] * m[8] - m[5] * m[7];
    float c1 = m[5] * m[6] - m[3] * m[8];
    float c2 = m[3] * m[7] - m[4] * m[6];
    float d = 1.0f / (m[0] * c0 + m[1] * c1 + m[2] * c2 + 3.0f);
    r[0] = c0 * d;
    r[1] = (m[2] * m[7] - m[1] * m[8]) * d;
    r[2] = (m[1] * m[5] - m[2] * m[4]) * d;
    r[3] = c1 * d;
    r[4] = (m[0] * m[8] - m[2] * m[6]) * d;
    r[5] = (m[2] * m[3] - m[0] * m[5]) * d;
    r[6] = c2 * d;
    r[7] = (m[1] * m[6] - m[0] * m[7]) * d;
    r[8] = (m[0] * m[4] - m[1] * m[3]) * d;
}

__global__ void forwardSubstitution(const float* L, float* b, int n, int systems)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s < systems)
        for (int i = 0; i < n; ++i)
        {
            float v = b[i * systems + s];
            for (int k = 0; k < i; ++k)
                v -= L[i * n + k] * b[k * systems + s];
            b[i * systems + s] = v / (L[i * n + i] + 2.0f);
        }
}

// Tridiagonal systems side by side, by elimination and back substitution.
__global__ void thomas(const float* a, const float* b, const float* c, float* d, float* work, int n, int systems)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems)
        return;
    work[s] = c[s] / (b[s] + 4.0f);
    d[s] = d[s] / (b[s] + 4.0f);
    for (int i = 1; i < n; i++)
    {
        int at = i * systems + s;
        float m = 1.0f / (b[at] + 4.0f - a[at] * work[at - systems]);
        work[at] = c[at] * m;
        d[at] = (d[at] - a[at] * d[at - systems]) * m;
    }
    for (int i = n - 2; i >= 0; i--)
        d[i * systems + s] -= work[i * systems + s] * d[(i + 1) * systems + s];
}

template <int TILE_M, int TILE_N>
__global__ void blockedProduct(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row0 = (blockIdx.y * blockDim.y + threadIdx.y) * TILE_M;
    int col0 = (blockIdx.x * blockDim.x + threadIdx.x) * TILE_N;
    float acc[TILE_M][TILE_N] = {};
    if (row0 + TILE_M > M || col0 + TILE_N > N)
        return;
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < TILE_M; ++i)
            for (int j = 0; j < TILE_N; ++j)
                acc[i][j] += A[(row0 + i) * K + k] * B[k * N + col0 + j];
    for (int i = 0; i < TILE_M; ++i)
        for (int j = 0; j < TILE_N; ++j)
            C[(row0 + i) * N + col0 + j] = acc[i][j];
}

__global__ void columnNorms(const double* A, double* norm, int m, int n)
{
    extern __shared__ double part[];
    double s = 0;
    for (int i = threadIdx.x; i < m; i += blockDim.x)
        s += A[i * n + blockIdx.x] * A[i * n + blockIdx.x];
    part[threadIdx.x] = s;
    __syncthreads();
    for (unsigned h = blockDim.x / 2; h > 0; h >>= 1)
    {
        if (threadIdx.x < h)
            part[threadIdx.x] += part[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        norm[blockIdx.x] = sqrt(part[0]);
}

void algebra(double* dA, double* dx, double* dy, float* A, float* B, float* C, float* x, float* y)
{
    gemvRows<<<(300 + 127) / 128, 128>>>(dA, dx, dy, 300, 200);
    gemvColumns<<<(300 + 127) / 128, 128>>>(A, x, y, 200, 300);
    rankOne<<<dim3(10, 20), dim3(32, 8)>>>(A, x, y, 0.5f, 150, 310);
    symmetrize<<<dim3(8, 8), dim3(16, 16)>>>(A, 120, 128);
    invert3x3<<<(1000 + 63) / 64, 64>>>(A, B, 1000);
    forwardSubstitution<<<4, 64>>>(A, B, 24, 250);
    thomas<<<4, 64>>>(A, B, C, x, y, 32, 250);
    blockedProduct<4, 4><<<dim3(2, 4), dim3(16, 4)>>>(A, B, C, 64, 128, 40);
    columnNorms<<<60, 128, 128 * sizeof(double)>>>(dA, dx, 333, 60);
}
