/// Edits of kernels of many styles that are wrong for some sizes, places, shapes or branches.
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;

/// Rows are padded to a pitch.
const std::string pitched = R"(
#define BX 16
#define BY 8
__global__ void laplace(const float* __restrict__ a, float* b, int width, int height, int pitch)
{
    int x = blockIdx.x * BX + threadIdx.x;
    int y = blockIdx.y * BY + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        int at = y * pitch + x;
        b[at] = a[at - 1] + a[at + 1] + a[at - pitch] + a[at + pitch] - 4.0f * a[at];
    }
}
void step(const float* a, float* b, int w, int h, int pitch)
{
    dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
    laplace<<<grid, block>>>(a, b, w, h, pitch);
}
int main()
{
    int w = 150, h = 90, pitch = 160; float *a, *b;
    cudaMalloc(&a, pitch * h * 4); cudaMalloc(&b, pitch * h * 4);
    step(a, b, w, h, pitch);
}
)";

const std::string transposed = R"(
const int TILE = 16;
__global__ void turn(double* out, const double* in, int rows, int cols)
{
    __shared__ double tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < cols && y < rows)
        tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < cols)
        out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
int main()
{
    int rows = 100, cols = 70; double *o, *i;
    cudaMalloc(&o, rows * cols * 8); cudaMalloc(&i, rows * cols * 8);
    turn<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(o, i, rows, cols);
}
)";

/// Each thread keeps a few sums.
const std::string blocked = R"(
#define PER_THREAD 4
__global__ void gemv4(const float *A, const float *x, float *y, int m, int k)
{
    int row0 = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
    float acc[PER_THREAD];
    for (int j = 0; j < PER_THREAD; j++) acc[j] = 0.0f;
    for (int p = 0; p < k; p++) {
        float xv = x[p];
        for (int j = 0; j < PER_THREAD; j++)
            if (row0 + j < m) acc[j] += A[(size_t)(row0 + j) * k + p] * xv;
    }
    for (int j = 0; j < PER_THREAD; j++)
        if (row0 + j < m) y[row0 + j] = acc[j];
}
int main()
{
    int m = 1000, k = 48; float *A, *x, *y;
    cudaMalloc(&A, m * k * 4); cudaMalloc(&x, k * 4); cudaMalloc(&y, m * 4);
    gemv4<<<(m + 255) / 256, 64>>>(A, x, y, m, k);
}
)";

/// The few nearest values, kept in order.
const std::string nearest = R"(
__device__ void insert(float* best, int k, float d)
{
    int at = k - 1;
    if (d >= best[at]) return;
    while (at > 0 && best[at - 1] > d) { best[at] = best[at - 1]; --at; }
    best[at] = d;
}
__global__ void knn(const float* points, const float* queries, float* dist, int n, int q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= q) return;
    float best[5];
    for (int j = 0; j < 5; ++j) best[j] = 1e30f;
    float at = queries[i];
    for (int p = 0; p < n; ++p) insert(best, 5, fabsf(points[p] - at));
    for (int j = 0; j < 5; ++j) dist[i * 5 + j] = best[j];
}
int main()
{
    int n = 64, q = 300; float *p, *s, *d;
    cudaMalloc(&p, n * 4); cudaMalloc(&s, q * 4); cudaMalloc(&d, q * 5 * 4);
    knn<<<(q + 127) / 128, 128>>>(p, s, d, n, q);
}
)";

const std::string operations = R"(
enum Op { RELU, LEAKY, SQUARE, CLIP, NEGATE };
__global__ void activate(const float* in, float* out, const unsigned char* op, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    switch (op[i]) {
    case RELU: v = v > 0 ? v : 0; break;
    case LEAKY: v = v > 0 ? v : 0.01f * v; break;
    case SQUARE: v = v * v; break;
    case CLIP:
        v = v > 6.0f ? 6.0f : v;
        break;
    default: v = -v;
    }
    out[i] = v;
}
int main()
{
    int n = 20000; float *a, *b; unsigned char* op;
    cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&op, n);
    activate<<<(n + 255) / 256, 256>>>(a, b, op, n);
}
)";

/// The mode is a parameter that the file passes one value of.
const std::string modes = R"(
__global__ void combine(const int* a, const int* b, int* c, int mode, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int r = 0;
        switch (mode) {
        case 0: r = a[i] + b[i]; break;
        case 1: r = a[i] - b[i]; break;
        case 17: r = a[i] * b[i]; break;
        case 250: r = a[i] ^ b[i]; break;
        default: r = a[i]; break;
        }
        c[i] = r;
    }
}
void run(const int* a, const int* b, int* c, int mode, int n)
{
    combine<<<64, 128>>>(a, b, c, mode, n);
}
int main() { int *a, *b, *c; run(a, b, c, 1, 30000); }
)";

/// Bytes, four to a thread.
const std::string packed = R"(
__global__ void brighten(unsigned char* pixels, int count, int by)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < count) {
        uchar4 p = *(uchar4*)(pixels + i);
        p.x = min(p.x + by, 255); p.y = min(p.y + by, 255);
        p.z = min(p.z + by, 255); p.w = min(p.w + by, 255);
        *(uchar4*)(pixels + i) = p;
    } else {
        for (int j = i; j < count; ++j) pixels[j] = min(pixels[j] + by, 255);
    }
}
int main()
{
    unsigned char* p; int count = 10001;
    cudaMalloc(&p, count);
    brighten<<<(count + 1023) / 1024, 256>>>(p, count, 40);
}
)";

const std::string copied = R"(
__global__ void gather_rows(const float* table, const int* ids, float* out, int rows, int width)
{
    for (int r = blockIdx.x; r < rows; r += gridDim.x)
        for (int c = threadIdx.x; c < width; c += blockDim.x)
            out[(size_t)r * width + c] = table[(size_t)ids[r] * width + c];
}
int main()
{
    int rows = 200, width = 50, *ids; float *t, *o;
    cudaMalloc(&t, 1000 * width * 4); cudaMalloc(&ids, rows * 4); cudaMalloc(&o, rows * width * 4);
    gather_rows<<<128, 64>>>(t, ids, o, rows, width);
}
)";

/// A matrix is scaled in place, or into another.
const std::string inPlace = R"(
__global__ void mirror_add(const float* src, float* dst, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        dst[i] = src[i] * 0.5f;
        dst[i] += src[i] * 0.25f;
    }
}
void both(float* a, float* b, int n)
{
    mirror_add<<<(n + 127) / 128, 128>>>(a, b, n);
    mirror_add<<<(n + 127) / 128, 128>>>(b, b, n);
}
int main() { float *a, *b; int n = 5000; cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); both(a, b, n); }
)";

const std::string threeInstances = R"(
template <typename T, int VEC>
__global__ void axpby(const T* x, T* y, T a, T b, int n)
{
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * VEC;
#pragma unroll
    for (int v = 0; v < VEC; ++v)
        if (base + v < n) y[base + v] = a * x[base + v] + b * y[base + v];
}
int main()
{
    int n = 7000; float *x, *y; double *u, *w; int *p, *q;
    cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4); cudaMalloc(&u, n * 8); cudaMalloc(&w, n * 8);
    cudaMalloc(&p, n * 4); cudaMalloc(&q, n * 4);
    axpby<float, 4><<<(n + 1023) / 1024, 256>>>(x, y, 1.5f, 0.5f, n);
    axpby<double, 2><<<(n + 511) / 512, 256>>>(u, w, 1.5, 0.5, n);
    axpby<int, 1><<<(n + 255) / 256, 256>>>(p, q, 3, 2, n);
}
)";

const std::string searched = R"(
__device__ int lower_bound(const int* sorted, int n, int key)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (sorted[mid] < key) lo = mid + 1; else hi = mid;
    }
    return lo;
}
__global__ void rank_keys(const int* sorted, const int* keys, int* rank, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) rank[i] = lower_bound(sorted, n, keys[i]);
}
// kernelskill: launch rank_keys<<<(m + 127) / 128, 128>>>(sorted=iota[n], keys=rand[m, 0..900], rank=zero[m], n=777, m=1500)
)";

class PlantedPlaces : public PlantedEdits {};

TEST_P(PlantedPlaces, IsRefused) {
    expectRefused(verdict());
}

const std::vector<PlantedEdit> wrong{
    {"the width for the pitch", pitched, "y * pitch + x", "y * width + x"},
    {"the last column", pitched, "x < width - 1", "x < width - 2"},
    {"the last row", pitched, "y < height - 1", "y < height - 2"},
    {"rows from one grid's height on", pitched, "y * BY + threadIdx.y",
     "y * BY + threadIdx.y % BY % 8 % 7"},
    {"positions of 16 bits", pitched, "int at = y * pitch + x",
     "unsigned short at = y * pitch + x"},
    {"rows for columns", transposed, "in[y * cols + x]", "in[y * rows + x]"},
    {"the tile without its turn", transposed, "tile[threadIdx.x][threadIdx.y]",
     "tile[threadIdx.y][threadIdx.x]"},
    {"a guard of the other extent", transposed, "if (x < rows && y < cols)",
     "if (x < cols && y < rows)"},
    {"blocks not exchanged", transposed, "x = blockIdx.y * TILE + threadIdx.x;\n    y = blockIdx.x",
     "x = blockIdx.x * TILE + threadIdx.x;\n    y = blockIdx.y"},
    {"sums beyond the array", blocked, "for (int j = 0; j < PER_THREAD; j++) acc[j] = 0.0f",
     "for (int j = 0; j <= PER_THREAD; j++) acc[j] = 0.0f"},
    {"a sum too many is read", blocked, "if (row0 + j < m) y[row0 + j] = acc[j];",
     "if (row0 + j < m) y[row0 + j] = acc[j] + 0 * acc[j + 1];"},
    {"a smaller array of sums", blocked, "float acc[PER_THREAD];", "float acc[PER_THREAD - 1];"},
    {"the last row of four", blocked, "if (row0 + j < m) acc[j]", "if (row0 + j < m - 1) acc[j]"},
    {"no guard of the rows", blocked, "if (row0 + j < m) acc[j]", "acc[j]"},
    {"a product of 32 bits", blocked, "(size_t)(row0 + j) * k + p", "(short)(row0 + j) * k + p"},
    {"a sixth best of five", nearest, "insert(best, 5,", "insert(best, 6,"},
    {"the best before the first", nearest, "while (at > 0 &&", "while (at >= 0 &&"},
    {"four best", nearest, "float best[5];", "float best[4];"},
    {"ties replace", nearest, "best[at - 1] > d)", "best[at - 1] > d + 1e-7f)"},
    {"the default dropped", operations, "    default: v = -v;\n", ""},
    {"a case that falls through", operations, "0.01f * v; break;", "0.01f * v;"},
    {"another bound of one case", operations, "v > 6.0f ? 6.0f", "v > 60.0f ? 60.0f"},
    {"a case that the file does not pass", modes, "r = a[i] * b[i]", "r = a[i] + b[i]"},
    {"the default of a parameter", modes, "default: r = a[i]", "default: r = b[i]"},
    {"a case less", modes, "        case 250: r = a[i] ^ b[i]; break;\n", ""},
    {"a tail of four", packed, "i + 3 < count", "i < count - count % 8"},
    {"the tail's bound", packed, "j < count; ++j", "j < count - 1; ++j"},
    {"the tail dropped", packed,
     "for (int j = i; j < count; ++j) pixels[j] = min(pixels[j] + by, 255);", ";"},
    {"an overflow of bytes", packed, "p.w = min(p.w + by, 255)", "p.w = p.w + by"},
    {"a negative step", packed, "pixels[j] = min(pixels[j] + by, 255)",
     "pixels[j] = by < 0 ? 0 : min(pixels[j] + by, 255)"},
    {"rows beyond the grid", copied, "r < rows; r += gridDim.x",
     "r < rows && r < gridDim.x; r += gridDim.x"},
    {"columns beyond the block", copied, "c < width; c += blockDim.x", "c < width; c += width"},
    {"a row's position in 32 bits", copied, "(size_t)ids[r] * width",
     "(unsigned short)(ids[r] * width)"},
    {"the wrong row", copied, "table[(size_t)ids[r] * width", "table[(size_t)r * width"},
    {"the source kept in a register", inPlace,
     "dst[i] = src[i] * 0.5f;\n        dst[i] += src[i] * 0.25f;",
     "float s = src[i];\n        dst[i] = s * 0.5f + s * 0.25f;"},
    {"restrict where the file passes one pointer twice", inPlace,
     "const float* src, float* dst, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
     "    if (i < n) {\n        dst[i] = src[i] * 0.5f;\n        dst[i] += src[i] * 0.25f;",
     "const float* __restrict__ src, float* __restrict__ dst, int n)\n{\n    int i = blockIdx.x * "
     "blockDim.x + threadIdx.x;\n    if (i < n) {\n        float s = src[i];\n        dst[i] = s * "
     "0.5f;\n        dst[i] += s * 0.25f;"},
    {"a read-only load of what is written", inPlace, "dst[i] += src[i]",
     "dst[i] += __ldg(src + i)"},
    {"the third instance", threeInstances, "a * x[base + v] + b * y[base + v]",
     "a * x[base + v] + (VEC == 1 ? 0 : b) * y[base + v]"},
    {"a type of one instance", threeInstances, "a * x[base + v] + b * y[base + v]",
     "T(float(a) * float(x[base + v]) + float(b) * float(y[base + v]))"},
    {"the middle of large sums", searched, "(lo + hi) >> 1", "(short)(lo + hi) >> 1"},
    {"equal keys", searched, "sorted[mid] < key", "sorted[mid] <= key"},
    {"the last position", searched, "hi = n;", "hi = n - 1;"},
};

INSTANTIATE_TEST_SUITE_P(Edits, PlantedPlaces, ::testing::ValuesIn(sampleOf(wrong, 10)), numberOf);

class RightPlaces : public PlantedEdits {};

TEST_P(RightPlaces, IsAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

const std::vector<PlantedEdit> right{
    {"a pointer to the row", pitched, "int at = y * pitch + x;", "const int at = pitch * y + x;"},
    {"the tile's row first", transposed, "in[y * cols + x]", "in[x + y * cols]"},
    {"sums in a loop with a pragma", blocked, "    for (int p = 0; p < k; p++) {",
     "#pragma unroll 2\n    for (int p = 0; p < k; p++) {"},
    {"the best from the end", nearest, "for (int j = 0; j < 5; ++j) best[j] = 1e30f;",
     "for (int j = 4; j >= 0; --j) best[j] = 1e30f;"},
    {"a case as a comparison", operations, "case RELU: v = v > 0 ? v : 0; break;",
     "case RELU: if (!(v > 0)) v = 0; break;"},
    {"a case by another order", modes, "r = a[i] - b[i]", "r = -b[i] + a[i]"},
    {"the tail from the end", packed, "for (int j = i; j < count; ++j)",
     "for (int j = count - 1; j >= i; --j)"},
    {"a pointer to the row of the table", copied,
     "        for (int c = threadIdx.x; c < width; c += blockDim.x)\n            out[(size_t)r * "
     "width + c] = table[(size_t)ids[r] * width + c];",
     "    {\n        const float* from = table + (size_t)ids[r] * width;\n        for (int c = "
     "threadIdx.x; c < width; c += blockDim.x)\n            out[(size_t)r * width + c] = "
     "from[c];\n    "
     "}"},
    {"the sum at once", inPlace, "int i = blockIdx.x * blockDim.x + threadIdx.x;",
     "const int i = threadIdx.x + blockIdx.x * blockDim.x;"},
    {"the position once", threeInstances,
     "if (base + v < n) y[base + v] = a * x[base + v] + b * y[base + v];",
     "{\n            const int i = base + v;\n            if (i < n) y[i] = a * x[i] + b * y[i];\n "
     "   "
     "    }"},
    {"the middle by halves", searched, "(lo + hi) >> 1", "lo + ((hi - lo) >> 1)"},
};

INSTANTIATE_TEST_SUITE_P(Edits, RightPlaces, ::testing::ValuesIn(sampleOf(right, 11)), numberOf);

} // namespace
} // namespace kernelskill::engine
