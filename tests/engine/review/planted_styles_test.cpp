/// Edits that the values, sizes and positions of runs alone did not show as wrong.
#include "tests/engine/review/colour_grade.h"
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;

/// Probabilities of rows of several lengths.
const std::string softmaxrow = R"(
#include <cfloat>
template <int kWarps>
__global__ void attentionProbs(const float* scores, float* probs, const int* lengths, int maxLen, float scale)
{
    __shared__ float red[kWarps];
    const int row = blockIdx.x;
    const int len = lengths[row];
    const float* s = scores + (long long)row * maxLen;
    float* p = probs + (long long)row * maxLen;
    float m = -FLT_MAX;
    for (int j = threadIdx.x; j < len; j += blockDim.x) m = fmaxf(m, s[j] * scale);
    for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = m;
    __syncthreads();
    m = red[0];
    for (int w = 1; w < kWarps; ++w) m = fmaxf(m, red[w]);
    __syncthreads();
    float sum = 0;
    for (int j = threadIdx.x; j < len; j += blockDim.x) sum += __expf(s[j] * scale - m);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += red[w];
    for (int j = threadIdx.x; j < maxLen; j += blockDim.x)
        p[j] = j < len ? __expf(s[j] * scale - m) / sum : 0.0f;
}
// kernelskill: launch attentionProbs<4><<<24, 128>>>(scores=rand[24*200, -8..8], probs=zero[24*200], lengths=rand[24, 1..200], maxLen=200, scale=0.125)
int main()
{
    float *s, *p; int* l;
    cudaMalloc(&s, 24 * 200 * 4); cudaMalloc(&p, 24 * 200 * 4); cudaMalloc(&l, 24 * 4);
    attentionProbs<4><<<24, 128>>>(s, p, l, 200, 0.125f);
}
)";

/// The nearest points, in arrays of each thread.
const std::string topk = R"(
template <int K>
__global__ void knn(const float3* __restrict__ pts, const float3* __restrict__ queries, int* __restrict__ idx, float* __restrict__ dist, int np, int nq)
{
    const int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= nq) return;
    float best[K];
    int who[K];
#pragma unroll
    for (int k = 0; k < K; ++k) { best[k] = 3.402823466e+38f; who[k] = -1; }
    const float3 c = queries[q];
    for (int p = 0; p < np; ++p) {
        const float dx = pts[p].x - c.x, dy = pts[p].y - c.y, dz = pts[p].z - c.z;
        const float d = dx * dx + dy * dy + dz * dz;
        if (d < best[K - 1]) {
            int k = K - 1;
            while (k > 0 && best[k - 1] > d) { best[k] = best[k - 1]; who[k] = who[k - 1]; --k; }
            best[k] = d; who[k] = p;
        }
    }
    for (int k = 0; k < K; ++k) { idx[q * K + k] = who[k]; dist[q * K + k] = sqrtf(best[k]); }
}
int main()
{
    int np = 700, nq = 300; float3 *p, *q; int* i; float* d;
    cudaMalloc(&p, np * sizeof(float3)); cudaMalloc(&q, nq * sizeof(float3)); cudaMalloc(&i, nq * 5 * 4); cudaMalloc(&d, nq * 5 * 4);
    knn<5><<<(nq + 63) / 64, 64>>>(p, q, i, d, np, nq);
}
)";

/// Buckets of 64-bit keys.
const std::string hashes = R"(
typedef unsigned long long u64;
__device__ u64 mix(u64 h) { h ^= h >> 33; h *= 0xff51afd7ed558ccdULL; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53ULL; h ^= h >> 33; return h; }
__device__ unsigned rotl(unsigned x, int r) { return (x << r) | (x >> (32 - r)); }
__global__ void bucketOf(const u64* keys, const unsigned* salts, unsigned* bucket, unsigned* fold, unsigned buckets, u64 count)
{
    for (u64 i = threadIdx.x + (u64)blockIdx.x * blockDim.x; i < count; i += (u64)gridDim.x * blockDim.x) {
        u64 h = mix(keys[i] ^ salts[i & 15]);
        bucket[i] = (unsigned)(h % buckets);
        fold[i] = rotl((unsigned)h, 13) ^ (unsigned)(h >> 32);
    }
}
int main()
{
    u64* k; unsigned *s, *b, *f; u64 n = 5000;
    cudaMalloc(&k, n * 8); cudaMalloc(&s, 64); cudaMalloc(&b, n * 4); cudaMalloc(&f, n * 4);
    bucketOf<<<20, 256>>>(k, s, b, f, 97, n);
}
)";

/// A batch of matrices of halves.
const std::string transposeH = R"(
#include <cuda_fp16.h>
constexpr int kTile = 32, kRows = 8;
__global__ void transposeBatched(const __half* __restrict__ in, __half* __restrict__ out, int rows, int cols)
{
    __shared__ __half tile[kTile][kTile + 1];
    const size_t plane = (size_t)blockIdx.z * rows * cols;
    int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
#pragma unroll
    for (int k = 0; k < kTile; k += kRows)
        if (x < cols && y + k < rows) tile[threadIdx.y + k][threadIdx.x] = in[plane + (size_t)(y + k) * cols + x];
    __syncthreads();
    x = blockIdx.y * kTile + threadIdx.x; y = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
    for (int k = 0; k < kTile; k += kRows)
        if (x < rows && y + k < cols) out[plane + (size_t)(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k];
}
int main()
{
    int r = 70, c = 100, batch = 3; __half *a, *b;
    cudaMalloc(&a, batch * r * c * 2); cudaMalloc(&b, batch * r * c * 2);
    transposeBatched<<<dim3((c + 31) / 32, (r + 31) / 32, batch), dim3(32, 8)>>>(a, b, r, c);
}
)";

/// A grid whose extents are in a class.
const std::string stencil = R"(
struct Grid { int nx, ny, nz; float invdx2; };
__device__ __forceinline__ int at(const Grid& g, int i, int j, int k) { return (k * g.ny + j) * g.nx + i; }
__global__ void laplace(Grid g, const float* __restrict__ u, float* __restrict__ lap)
{
    __shared__ float tile[10][34];
    const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    const int li = threadIdx.x + 1, lj = threadIdx.y + 1;
    for (int k = 0; k < g.nz; ++k) {
        if (i < g.nx && j < g.ny) {
            tile[lj][li] = u[at(g, i, j, k)];
            if (threadIdx.x == 0) tile[lj][0] = i > 0 ? u[at(g, i - 1, j, k)] : 0.0f;
            if (threadIdx.x == 31 || i == g.nx - 1) tile[lj][li + 1] = i + 1 < g.nx ? u[at(g, i + 1, j, k)] : 0.0f;
            if (threadIdx.y == 0) tile[0][li] = j > 0 ? u[at(g, i, j - 1, k)] : 0.0f;
            if (threadIdx.y == 7 || j == g.ny - 1) tile[lj + 1][li] = j + 1 < g.ny ? u[at(g, i, j + 1, k)] : 0.0f;
        }
        __syncthreads();
        if (i < g.nx && j < g.ny) {
            float c = tile[lj][li];
            float below = k > 0 ? u[at(g, i, j, k - 1)] : 0.0f;
            float above = k + 1 < g.nz ? u[at(g, i, j, k + 1)] : 0.0f;
            lap[at(g, i, j, k)] = (tile[lj][li - 1] + tile[lj][li + 1] + tile[lj - 1][li] + tile[lj + 1][li] + below + above - 6.0f * c) * g.invdx2;
        }
        __syncthreads();
    }
}
int main()
{
    Grid g{45, 21, 6, 4.0f}; float *u, *l;
    cudaMalloc(&u, g.nx * g.ny * g.nz * sizeof(float)); cudaMalloc(&l, g.nx * g.ny * g.nz * sizeof(float));
    laplace<<<dim3((g.nx + 31) / 32, (g.ny + 7) / 8), dim3(32, 8)>>>(g, u, l);
}
)";

/// One kernel for three functions.
const std::string activations = R"(
struct Gelu { __device__ float operator()(float x) const { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); } };
struct Silu { __device__ float operator()(float x) const { return x / (1.0f + expf(-x)); } };
struct Softplus { float beta; __device__ float operator()(float x) const { return x * beta > 20.0f ? x : log1pf(expf(x * beta)) / beta; } };
template <typename Op>
__global__ void pointwise(float* data, size_t count, Op op)
{
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) data[i] = op(data[i]);
}
int main()
{
    float* d; size_t n = 30000; cudaMalloc(&d, n * sizeof(float));
    pointwise<Gelu><<<min((size_t)1024, (n + 255) / 256), 256>>>(d, n, Gelu{});
    pointwise<Silu><<<min((size_t)1024, (n + 255) / 256), 256>>>(d, n, Silu{});
    pointwise<Softplus><<<min((size_t)1024, (n + 255) / 256), 256>>>(d, n, Softplus{2.0f});
}
)";

/// Particles in a class.
const std::string particles = R"(
struct Particle { float4 pos; float3 vel; int cell; };
__constant__ float dtTable[8];
__device__ float energyOf(const Particle& p) { return 0.5f * p.pos.w * (p.vel.x * p.vel.x + p.vel.y * p.vel.y + p.vel.z * p.vel.z); }
__global__ void integrate(Particle* ps, float* energy, unsigned* cellCount, int n, int level, float3 lo, float3 hi)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        Particle p = ps[i];
        const float dt = dtTable[level];
        p.pos.x += p.vel.x * dt; p.pos.y += p.vel.y * dt; p.pos.z += p.vel.z * dt;
        if (p.pos.x < lo.x) { p.pos.x = 2 * lo.x - p.pos.x; p.vel.x = -p.vel.x; }
        if (p.pos.x > hi.x) { p.pos.x = 2 * hi.x - p.pos.x; p.vel.x = -p.vel.x; }
        int c = min(max((int)floorf((p.pos.y - lo.y) / (hi.y - lo.y) * 16.0f), 0), 15);
        if (c != p.cell) { atomicSub(&cellCount[p.cell & 15], 1u); atomicAdd(&cellCount[c], 1u); p.cell = c; }
        energy[i] = energyOf(p);
        ps[i] = p;
    }
}
int main()
{
    Particle* p; float* e; unsigned* c; int n = 4000;
    cudaMalloc(&p, n * sizeof(Particle)); cudaMalloc(&e, n * 4); cudaMalloc(&c, 64);
    integrate<<<16, 128>>>(p, e, c, n, 2, make_float3(-1, -1, -1), make_float3(1, 1, 1));
}
)";

class PlantedStyles : public PlantedEdits {};

TEST_P(PlantedStyles, IsRefused) {
    expectRefused(verdict());
}

const std::vector<PlantedEdit> wrong{
    {"position by float", saturate, "    const size_t idx = (size_t)y * width + x;",
     "    const size_t idx = (size_t)((float)y * width + x);"},
    {"maximum at least zero", softmaxrow, "float m = -FLT_MAX;", "float m = 0.0f;",
     skills::Numerics::Reassociates},
    {"row offset in int", softmaxrow, "const float* s = scores + (long long)row * maxLen;",
     "const float* s = scores + row * maxLen;"},
    {"written through a pointer", topk,
     "    for (int k = 0; k < K; ++k) { best[k] = 3.402823466e+38f; who[k] = -1; }",
     "    for (float* b = best; b <= best + K; ++b) *b = 3.402823466e+38f;\n#pragma unroll\n    "
     "for (int k = 0; k < K; ++k) who[k] = -1;"},
    {"32-bit counter", hashes, "for (u64 i = threadIdx.x + (u64)blockIdx.x * blockDim.x;",
     "for (unsigned i = threadIdx.x + blockIdx.x * blockDim.x;"},
    {"32-bit plane", transposeH, "const size_t plane = (size_t)blockIdx.z * rows * cols;",
     "const unsigned plane = blockIdx.z * rows * cols;"},
    {"32-bit index of the output", transposeH, "out[plane + (size_t)(y + k) * rows + x]",
     "out[plane + (y + k) * rows + x]"},
    {"edge of the block for edge of the grid", stencil, "threadIdx.x == 31 || i == g.nx - 1",
     "threadIdx.x == 31"},
    {"ny for nx", stencil, "return (k * g.ny + j) * g.nx + i;",
     "return (k * g.nx + j) * g.ny + i;"},
    {"sigmoid overflow", activations, "return x / (1.0f + expf(-x));",
     "{ float e = expf(x); return x * e / (1.0f + e); }", skills::Numerics::Reassociates},
    {"no upper cell", particles,
     "min(max((int)floorf((p.pos.y - lo.y) / (hi.y - lo.y) * 16.0f), 0), 15)",
     "max((int)floorf((p.pos.y - lo.y) / (hi.y - lo.y) * 16.0f), 0) & 15"},
};

INSTANTIATE_TEST_SUITE_P(Edits, PlantedStyles, ::testing::ValuesIn(sampleOf(wrong, 5)), numberOf);

class RightStyles : public PlantedEdits {};

TEST_P(RightStyles, IsAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

const std::vector<PlantedEdit> right{
    {"pixel by loads of bytes", saturate, "Pixel p = in[idx];",
     "const Pixel* q = in + (size_t)y * width; Pixel p = q[x];"},
    {"minus infinity", softmaxrow, "float m = -FLT_MAX;", "float m = -INFINITY;"},
    {"the point once", topk,
     "const float dx = pts[p].x - c.x, dy = pts[p].y - c.y, dz = pts[p].z - c.z;",
     "const float3 o = pts[p]; const float dx = o.x - c.x, dy = o.y - c.y, dz = o.z - c.z;"},
    {"funnel shift", hashes, "rotl((unsigned)h, 13)",
     "__funnelshift_l((unsigned)h, (unsigned)h, 13)"},
    {"plane in the pointer", transposeH,
     "tile[threadIdx.y + k][threadIdx.x] = in[plane + (size_t)(y + k) * cols + x];",
     "tile[threadIdx.y + k][threadIdx.x] = (in + plane)[(size_t)(y + k) * cols + x];"},
    {"planes in registers", stencil, "return (k * g.ny + j) * g.nx + i;",
     "return k * (g.ny * g.nx) + j * g.nx + i;"},
    {"step of unsigned", activations, "data[i] = op(data[i]);",
     "{ const float v = data[i]; data[i] = op(v); }"},
    {"the pointer", particles, "        ps[i] = p;", "        *(ps + i) = p;"},
};

INSTANTIATE_TEST_SUITE_P(Edits, RightStyles, ::testing::ValuesIn(sampleOf(right, 4)), numberOf);

} // namespace
} // namespace kernelskill::engine
