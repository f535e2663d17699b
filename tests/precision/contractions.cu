// Sums of products and other contractions, written as they first come to mind.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define TILE 16
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
#define IDX(i, j, ld) ((i) * (ld) + (j))

// Early return, column-major operands with leading dimensions.
__global__ void gemmColumnMajor(int m, int n, int k, float alpha, const float* A, int lda, const float* B, int ldb, float beta,
                                float* C, int ldc) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float acc = 0.f;
    for (int p = 0; p < k; ++p)
        acc += A[row + p * lda] * B[p + col * ldb];
    C[row + col * ldc] = alpha * acc + beta * C[row + col * ldc];
}

// A batch in z, pointers moved to it, size_t throughout.
__global__ void batchedProduct(const double* a, const double* b, double* c, size_t m, size_t n, size_t k)
{
    a += blockIdx.z * m * k;
    b += blockIdx.z * k * n;
    c += blockIdx.z * m * n;
    size_t y = blockIdx.y * blockDim.y + threadIdx.y;
    size_t x = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < m && x < n)
    {
        double total = 0.0;
        for (size_t t = 0; t < k; t++)
        {
            total = fma(a[y * k + t], b[t * n + x], total);
        }
        c[y * n + x] = total;
    }
}

// Squared distances of points, both operands rows of a matrix.
__global__ void distances(const float *__restrict__ points, const float *__restrict__ centres, float *__restrict__ out, int count,
                          int centers, int dims)
{
    int p = threadIdx.y + blockIdx.y * blockDim.y;
    int q = threadIdx.x + blockIdx.x * blockDim.x;
    if (p < count && q < centers)
    {
        float sum = 0;
        for (int d = 0; d < dims; d++)
        {
            float diff = points[p * dims + d] - centres[q * dims + d];
            sum += diff * diff;
        }
        out[p * centers + q] = sqrtf(sum);
    }
}

// The shortest way by one more stop: minimum of sums, integers.
__global__ void minPlus(const int* from, const int* to, int* best, int n) {
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int i = blockIdx.y * TILE + ty;
    const int j = blockIdx.x * TILE + tx;
    if (i >= n || j >= n)
        return;
    int shortest = best[i * n + j];
    for (int via = 0; via < n; ++via) {
        const int way = from[i * n + via] + to[via * n + j];
        if (way < shortest)
            shortest = way;
    }
    best[i * n + j] = shortest;
}

// Four operands and two accumulators: complex numbers in two planes.
__global__ void complexPlanes(const float* ar, const float* ai, const float* br, const float* bi, float* cr, float* ci, int m,
                              int n, int k) {
    unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float re = 0.0f, im = 0.0f;
        for (int t = 0; t < k; ++t) {
            float x = ar[row * k + t], y = ai[row * k + t];
            re += x * br[t * n + column] - y * bi[t * n + column];
            im += x * bi[t * n + column] + y * br[t * n + column];
        }
        cr[row * n + column] = re;
        ci[row * n + column] = im;
    }
}

// The output itself is the accumulator; weights of the terms; the loop does not begin at 0.
__global__ void weighted(float* c, const float* a, const float* b, const float* w, int m, int n, int first, int last) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        c[i * n + j] = 0.0f;
        for (int k = first; k < last; k++)
            c[i * n + j] += w[k] * a[k * m + i] * b[k * n + j];
    }
}

// A layer of a network: transposed weights, bias, activation, a macro for the index.
template <typename T>
__global__ void linearRelu(const T* input, const T* weight, const T* bias, T* output, int batch, int in, int out) {
    const int b = blockIdx.y * blockDim.y + threadIdx.y;
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch) return;
    if (o >= out) return;
    // Begin with the bias.
    T value = bias[o];
    for (int i = 0; i < in; ++i)
        value += input[IDX(b, i, in)] * weight[IDX(o, i, in)];
    output[IDX(b, o, out)] = value > T(0) ? value : T(0);
}

// One block a row of threads in a flat block: rows by division, columns by remainder.
__global__ void flatBlock(const float* A, const float* B, float* C, int M, int N, int K) {
    const int BS = 16;
    int row = blockIdx.x * BS + threadIdx.x / BS;
    int col = blockIdx.y * BS + threadIdx.x % BS;
    if (row < M && col < N) {
        float tmp = 0.0;
        for (int i = 0; i < K; ++i) {
            tmp += A[row * K + i] * B[i * N + col];
        }
        C[row * N + col] = tmp;
    }
}

// Half operands, sums in float.
__global__ void halfProduct(const __half* a, const __half* b, __half* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    const __half* left = a + row * k;
    const __half* right = b + col;
    float acc = 0.0f;
    for (int t = 0; t < k; ++t)
        acc += __half2float(left[t]) * __half2float(right[t * n]);
    c[row * n + col] = __float2half(acc);
}

// Both operands are one matrix, which is centred on the way.
__global__ void covariance(const float* data, const float* mean, float* cov, int samples, int features) {
    int f = blockIdx.y * blockDim.y + threadIdx.y;
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (f < features && g < features) {
        float sum = 0.0f;
        for (int s = 0; s < samples; ++s)
            sum += (data[s * features + f] - mean[f]) * (data[s * features + g] - mean[g]);
        cov[f * features + g] = sum / (samples - 1);
    }
}

// Two products one after the other, of one shape.
__global__ void gated(const float* x, const float* up, const float* gate, float* y, int rows, int inner, int outer) {
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows || c >= outer) return;
    float u = 0.0f;
    for (int k = 0; k < inner; ++k) u += x[r * inner + k] * up[k * outer + c];
    float g = 0.0f;
    for (int k = 0; k < inner; ++k) g += x[r * inner + k] * gate[k * outer + c];
    y[r * outer + c] = u * (g / (1.0f + expf(-g)));
}

// Bytes that are counted where they agree.
__global__ void hamming(const unsigned char* codes, const unsigned char* queries, unsigned short* distance, int m, int n, int bytes) {
    auto i = blockIdx.y * blockDim.y + threadIdx.y;
    auto j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m and j < n) {
        unsigned count = 0;
        for (int b = 0; b < bytes; b++)
            count += __popc(codes[i * bytes + b] ^ queries[j * bytes + b]);
        distance[i * n + j] = static_cast<unsigned short>(count);
    }
}

// Rows along x: neighbouring lanes read a column.
__global__ void rowsAlongX(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        float s = 0;
        for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
        c[i * n + j] = s;
    }
}

// One block for a row.
__global__ void rowOfBlock(const float* a, const float* b, float* c, int m, int n, int k) {
    const int row = blockIdx.x;
    const int col = blockIdx.y * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float dot = 0.f;
    for (int e = 0; e < k; ++e) dot += __ldg(&a[row * k + e]) * __ldg(&b[e * n + col]);
    c[row * n + col] = dot;
}

// One flat index; the columns by remainder.
__global__ void flatIndex(const float* a, const float* b, float* c, int m, int n, int k) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= m * n) return;
    int row = idx / n;
    int col = idx % n;
    float sum = 0.0f;
    for (int e = 0; e < k; ++e) sum += a[row * k + e] * b[e * n + col];
    c[idx] = sum;
}

// A flat index again, with what is left over instead of a remainder, and a bound of the rows.
__global__ void flatRows(const float* a, const float* b, float* c, long m, long n, long k) {
    const long id = (long)blockIdx.x * blockDim.x + threadIdx.x;
    const long y = id / n;
    const long x = id - y * n;
    if (y < m) {
        const float* left = a + y * k;
        float sum = c[id];
        for (long e = 0; e < k; ++e) sum -= left[e] * b[x * k + e];
        c[id] = sum;
    }
}

// Adds to the output, which nothing has set before; an inclusive bound.
__global__ void accumulate(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int m, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n)
        for (int t = 1; t <= k; t++)
            c[i * n + j] += a[(t - 1) * m + i] * b[j * k + t - 1];
}

// Skips what is zero; the largest product is kept as well.
__global__ void sparseRows(const float* a, const float* b, float* c, float* peak, int m, int n, int k) {
    const int y = blockIdx.y * 8 + threadIdx.y, x = blockIdx.x * 32 + threadIdx.x;
    if (!(y < m && x < n)) return;
    float sum = 0.0f, largest = -1e30f;
    for (int t = 0; t < k; ++t) {
        const float left = a[y * k + t];
        if (left == 0.0f) continue; // nothing to add
        const float product = left * b[t * n + x];
        sum += product;
        largest = fmaxf(largest, product);
    }
    c[y * n + x] = sum;
    peak[y * n + x] = largest;
}

void run(int m, int n, int k, int batch) {
    float *a, *b, *c, *d, *e, *f;
    double *da, *db, *dc;
    int *ia, *ib, *ic;
    __half *ha, *hb, *hc;
    unsigned char *ca, *cb;
    unsigned short* sc;
    cudaMalloc(&a, m * k * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&c, m * n * sizeof(float));
    cudaMalloc(&d, m * k * sizeof(float));
    cudaMalloc(&e, k * n * sizeof(float));
    cudaMalloc(&f, m * n * sizeof(float));
    cudaMalloc(&da, batch * m * k * sizeof(double));
    cudaMalloc(&db, batch * k * n * sizeof(double));
    cudaMalloc(&dc, batch * m * n * sizeof(double));
    cudaMalloc(&ia, n * n * sizeof(int));
    cudaMalloc(&ib, n * n * sizeof(int));
    cudaMalloc(&ic, n * n * sizeof(int));
    cudaMalloc(&ha, m * k * sizeof(__half));
    cudaMalloc(&hb, k * n * sizeof(__half));
    cudaMalloc(&hc, m * n * sizeof(__half));
    cudaMalloc(&ca, m * k);
    cudaMalloc(&cb, n * k);
    cudaMalloc(&sc, m * n * sizeof(unsigned short));
    const dim3 block(TILE, TILE);
    const dim3 grid(CEIL_DIV(n, TILE), CEIL_DIV(m, TILE));
    const dim3 square(CEIL_DIV(n, TILE), CEIL_DIV(n, TILE));
    gemmColumnMajor<<<dim3(CEIL_DIV(m, 32), CEIL_DIV(n, 8)), dim3(32, 8)>>>(m, n, k, 1.5f, a, m, b, k, 0.5f, c, m);
    batchedProduct<<<dim3((n + 15) / 16, (m + 15) / 16, batch), dim3(16, 16)>>>(da, db, dc, m, n, k);
    distances<<<grid, block>>>(a, b, c, m, n, k);
    minPlus<<<square, block>>>(ia, ib, ic, n);
    complexPlanes<<<grid, block>>>(a, d, b, e, c, f, m, n, k);
    weighted<<<dim3(CEIL_DIV(n, 32), CEIL_DIV(m, 32)), dim3(32, 32)>>>(c, a, b, d, m, n, 1, k);
    linearRelu<float><<<grid, block>>>(a, b, e, c, m, k, n);
    flatBlock<<<dim3(CEIL_DIV(m, 16), CEIL_DIV(n, 16)), 256>>>(a, b, c, m, n, k);
    halfProduct<<<grid, block>>>(ha, hb, hc, m, n, k);
    covariance<<<square, block>>>(a, b, c, k, n);
    gated<<<grid, block>>>(a, b, e, c, m, k, n);
    hamming<<<grid, block>>>(ca, cb, sc, m, n, k);
    rowsAlongX<<<square, block>>>(a, b, c, n);
    flatIndex<<<CEIL_DIV(m * n, 256), 256>>>(a, b, c, m, n, k);
    flatRows<<<(m * n + 127) / 128, 128>>>(a, b, c, m, n, k);
    accumulate<<<grid, block>>>(c, a, b, m, n, k);
    sparseRows<<<dim3(CEIL_DIV(n, 32), CEIL_DIV(m, 8)), dim3(32, 8)>>>(a, b, c, f, m, n, k);
    rowOfBlock<<<dim3(m, CEIL_DIV(n, 128)), 128>>>(a, b, c, m, n, k);
}
