/// Edits of kernels of many styles that lose the order of threads, or exchange their data wrongly.
#include "tests/engine/review/planted_edit.h"

namespace kernelskill::engine {
namespace {

using kernelskill::testing::numberOf;
using kernelskill::testing::PlantedEdit;
using kernelskill::testing::PlantedEdits;

/// Bins in shared memory, added to those of the grid.
const std::string bins = R"(
#define NUM_BINS 64
__global__ void count_bins(const unsigned char *data, unsigned int *bins, size_t len)
{
    __shared__ unsigned int local[NUM_BINS];
    for (unsigned int b = threadIdx.x; b < NUM_BINS; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    size_t stride = (size_t)blockDim.x * gridDim.x;
    for (size_t pos = (size_t)blockIdx.x * blockDim.x + threadIdx.x; pos < len; pos += stride)
        atomicAdd(&local[data[pos] >> 2], 1u);
    __syncthreads();
    for (unsigned int b = threadIdx.x; b < NUM_BINS; b += blockDim.x)
        if (local[b] != 0)
            atomicAdd(&bins[b], local[b]);
}
void count(const unsigned char *d, unsigned int *b, size_t len)
{
    cudaMemset(b, 0, NUM_BINS * sizeof(unsigned int));
    count_bins<<<32, 128>>>(d, b, len);
}
int main() { unsigned char *d; unsigned *b; cudaMalloc(&d, 100000); cudaMalloc(&b, 256); count(d, b, 100000); }
)";

/// The smallest and the largest of all elements.
const std::string extremes = R"(
__global__ void find_range(const int* __restrict__ values, int* lowest, int* highest, int count)
{
    int tid = threadIdx.x + blockDim.x * blockIdx.x;
    if (tid >= count) return;
    int v = values[tid];
    atomicMin(lowest, v);
    atomicMax(highest, v);
}
int main()
{
    int *v, *lo, *hi, count = 50000;
    cudaMalloc(&v, count * sizeof(int));
    cudaMalloc(&lo, sizeof(int));
    cudaMalloc(&hi, sizeof(int));
    find_range<<<(count + 191) / 192, 192>>>(v, lo, hi, count);
}
)";

/// Sums of 32 neighbours by a butterfly, and the block's sum by the first warp.
const std::string warps = R"(
#define FULL 0xffffffffu
__device__ __forceinline__ double warp_total(double v)
{
#pragma unroll
    for (int offset = 16; offset; offset >>= 1)
        v += __shfl_xor_sync(FULL, v, offset);
    return v;
}
__global__ void block_totals(const double *in, double *out, long n)
{
    __shared__ double stage[32];
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    double mine = i < n ? in[i] : 0.0;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    mine = warp_total(mine);
    if (lane == 0) stage[warp] = mine;
    __syncthreads();
    if (warp == 0) {
        mine = lane < (blockDim.x >> 5) ? stage[lane] : 0.0;
        mine = warp_total(mine);
        if (lane == 0) out[blockIdx.x] = mine;
    }
}
int main()
{
    long n = 30000; double *in, *out;
    cudaMalloc(&in, n * sizeof(double)); cudaMalloc(&out, 118 * sizeof(double));
    block_totals<<<(n + 255) / 256, 256>>>(in, out, n);
}
)";

/// An inclusive scan of each group of lanes.
const std::string groups = R"(
template <int GROUP>
__global__ void group_scan(const int* in, int* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % GROUP;
    int x = i < n ? in[i] : 0;
    for (int d = 1; d < GROUP; d *= 2) {
        int y = __shfl_up_sync(0xffffffff, x, d, GROUP);
        if (lane >= d) x += y;
    }
    if (i < n) out[i] = x;
}
int main()
{
    int n = 20000, *in, *out;
    cudaMalloc(&in, n * 4); cudaMalloc(&out, n * 4);
    group_scan<8><<<(n + 127) / 128, 128>>>(in, out, n);
}
)";

/// Positions of the elements that are kept, by ballots.
const std::string compaction = R"(
__global__ void keep_positive(const float* in, float* out, int* used, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : -1.0f;
    bool keep = v > 0.0f;
    unsigned votes = __ballot_sync(0xffffffffu, keep);
    int lane = threadIdx.x & 31;
    int rank = __popc(votes & ((1u << lane) - 1));
    int warp = i / 32;
    if (keep) out[warp * 32 + rank] = v;
    if (lane == 0) used[warp] = __popc(votes);
}
int main()
{
    int n = 8192, *used; float *in, *out;
    cudaMalloc(&in, n * 4); cudaMalloc(&out, n * 4); cudaMalloc(&used, n / 32 * 4);
    keep_positive<<<n / 256, 256>>>(in, out, used, n);
}
)";

/// Each block waits for the one before and passes its prefix on.
const std::string chain = R"(
__global__ void chained(const int* in, int* out, volatile int* prefix, volatile int* ready, int n)
{
    __shared__ int before;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int v = i < n ? in[i] : 0;
    atomicAdd(&sum, v);
    __syncthreads();
    if (threadIdx.x == 0) {
        int b = 0;
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0) { }
            __threadfence();
            b = prefix[blockIdx.x - 1];
        }
        prefix[blockIdx.x] = b + sum;
        __threadfence();
        ready[blockIdx.x] = 1;
        before = b;
    }
    __syncthreads();
    if (i < n) out[i] = v + before;
}
// kernelskill: launch chained<<<6, 64>>>(in=rand[384, 0..100], out=zero[384], prefix=zero[6], ready=zero[6], n=384)
)";

/// A scan in shared memory with two buffers.
const std::string scan = R"(
__global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    temp[pout * n + thid] = (thid > 0) ? g_idata[blockIdx.x * n + thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset <<= 1) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[blockIdx.x * n + thid] = temp[pout * n + thid];
}
int main()
{
    float *o, *i;
    cudaMalloc(&o, 16 * 128 * 4); cudaMalloc(&i, 16 * 128 * 4);
    scan_block<<<16, 128, 2 * 128 * sizeof(float)>>>(o, i, 128);
}
)";

/// Threads beyond the end take part in the barriers.
const std::string reversed = R"(
__global__ void flip(const short* src, short* dst, int n)
{
    __shared__ short buf[192];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        buf[threadIdx.x] = src[i];
    __syncthreads();
    int last = min(n - (int)(blockIdx.x * blockDim.x), (int)blockDim.x) - 1;
    if (i < n)
        dst[i] = buf[last - threadIdx.x];
}
int main()
{
    short *a, *b; int n = 5000;
    cudaMalloc(&a, n * 2); cudaMalloc(&b, n * 2);
    flip<<<(n + 191) / 192, 192>>>(a, b, n);
}
)";

/// Labels of vertices of a graph, lowered until nothing changes.
const std::string labels = R"(
__global__ void relax(const int *row, const int *col, const int *source, int *label, int *changed, int vertices)
{
    int v = blockDim.x * blockIdx.x + threadIdx.x;
    if (v < vertices) {
        int mine = source[v];
        for (int e = row[v]; e < row[v + 1]; ++e) {
            int w = col[e];
            int old = atomicMin(&label[w], mine);
            if (old > mine) *changed = 1;
        }
    }
}
// kernelskill: launch relax<<<4, 128>>>(row=iota[513], col=rand[512, 0..512], source=rand[512, 0..900], label=500[512], changed=zero[1], vertices=512)
)";

/// The winner of each cell takes it.
const std::string claims = R"(
__global__ void claim(const int* cell, int* owner, int* lost, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int old = atomicCAS(&owner[cell[i]], 0, 7);
    if (old != 0) atomicAdd(lost, 1);
}
// kernelskill: launch claim<<<4, 128>>>(cell=rand[512, 0..64], owner=rand[64, 0..3], lost=zero[1], n=512)
)";

/// A tree in shared memory whose last warp runs without barriers of the block.
const std::string tree = R"(
template <unsigned int threads>
__global__ void reduce_tree(const float* in, float* out, unsigned int n)
{
    __shared__ volatile float s[threads];
    unsigned int t = threadIdx.x;
    unsigned int i = blockIdx.x * threads * 2 + t;
    float sum = 0.0f;
    if (i < n) sum = in[i];
    if (i + threads < n) sum += in[i + threads];
    s[t] = sum;
    __syncthreads();
    if (threads >= 256) { if (t < 128) s[t] = s[t] + s[t + 128]; __syncthreads(); }
    if (threads >= 128) { if (t < 64) s[t] = s[t] + s[t + 64]; __syncthreads(); }
    if (t < 32) {
        s[t] = s[t] + s[t + 32]; __syncwarp();
        if (t < 16) s[t] = s[t] + s[t + 16]; __syncwarp();
        if (t < 8) s[t] = s[t] + s[t + 8]; __syncwarp();
        if (t < 4) s[t] = s[t] + s[t + 4]; __syncwarp();
        if (t < 2) s[t] = s[t] + s[t + 2]; __syncwarp();
        if (t < 1) s[t] = s[t] + s[t + 1];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
int main()
{
    float *in, *out; unsigned n = 20000;
    cudaMalloc(&in, n * 4); cudaMalloc(&out, 40 * 4);
    reduce_tree<256><<<40, 256>>>(in, out, n);
}
)";

class PlantedOrder : public PlantedEdits {};

TEST_P(PlantedOrder, IsRefused) {
    expectRefused(verdict());
}

const std::vector<PlantedEdit> wrong{
    {"the shared atomic becomes an addition", bins, "atomicAdd(&local[data[pos] >> 2], 1u)",
     "local[data[pos] >> 2] += 1u"},
    {"the grid's atomic becomes one of the block", bins, "atomicAdd(&bins",
     "atomicAdd_block(&bins"},
    {"bins are counted before they are all zero", bins,
     "        local[b] = 0;\n    __syncthreads();", "        local[b] = 0;"},
    {"bins are read before all are counted", bins, "1u);\n    __syncthreads();",
     "1u);\n    __syncwarp();"},
    {"bins are stored, not added", bins, "atomicAdd(&bins[b], local[b])", "bins[b] = local[b]"},
    {"a barrier in the grid-stride loop", bins,
     "        atomicAdd(&local[data[pos] >> 2], 1u);\n    __syncthreads();",
     "    {\n        atomicAdd(&local[data[pos] >> 2], 1u);\n        __syncthreads();\n    }"},
    {"minimum for maximum", extremes, "atomicMax(highest, v)", "atomicMin(highest, v)"},
    {"a test before the exchange", extremes, "atomicMax(highest, v)",
     "if (v > *highest) *highest = v"},
    {"an unsigned minimum", extremes, "atomicMin(lowest, v)",
     "atomicMin((unsigned int *)lowest, (unsigned int)v)"},
    {"an exchange if greater", extremes, "atomicMax(highest, v)",
     "if (v > *(volatile int*)highest) atomicExch(highest, v)"},
    {"half of the mask", warps, "FULL, v", "0xffffu, v"},
    {"another distance", warps, "int offset = 16", "int offset = 8"},
    {"a butterfly as a shift that all lanes use", warps, "__shfl_xor_sync(FULL, v, offset)",
     "__shfl_up_sync(FULL, v, offset)"},
    {"no barrier between the warps", warps, "stage[warp] = mine;\n    __syncthreads();",
     "stage[warp] = mine;\n    __syncwarp();"},
    {"stale slots of the stage", warps, "lane < (blockDim.x >> 5) ? stage[lane] : 0.0",
     "stage[lane & 15]"},
    {"float for double totals", warps, "double mine = i < n ? in[i] : 0.0",
     "float mine = i < n ? in[i] : 0.0"},
    {"half of a group's width", groups, "x, d, GROUP)", "x, d, GROUP / 2)"},
    {"one step too few", groups, "d < GROUP;", "d < GROUP / 2;"},
    {"the group's first lane takes a neighbour", groups, "if (lane >= d) x += y",
     "if (lane + 1 >= d) x += y"},
    {"lanes that left give no values", warps, "    double mine = i < n ? in[i] : 0.0;",
     "    if (i >= n) return;\n    double mine = in[i];"},
    {"the mask of the active lanes alone", compaction,
     "    unsigned votes = __ballot_sync(0xffffffffu, keep);",
     "    unsigned votes = 0;\n    if (keep) votes = __ballot_sync(__activemask(), keep);"},
    {"the rank counts the lane itself", compaction, "(1u << lane) - 1", "(2u << lane) - 1"},
    {"16 bits of votes", compaction, "int rank = __popc(votes",
     "int rank = __popc((unsigned short)votes"},
    {"no fence before the flag", chain, "b + sum;\n        __threadfence();", "b + sum;"},
    {"the block's fence before the flag", chain, "b + sum;\n        __threadfence();",
     "b + sum;\n        __threadfence_block();"},
    {"the flag before the data", chain,
     "prefix[blockIdx.x] = b + sum;\n        __threadfence();\n        ready[blockIdx.x] = 1;",
     "ready[blockIdx.x] = 1;\n        __threadfence();\n        prefix[blockIdx.x] = b + sum;"},
    {"a flag that is not volatile", chain, "volatile int* ready", "int* ready"},
    {"no wait at all", chain, "while (ready[blockIdx.x - 1] == 0) { }", ""},
    {"a wait of bounded length", chain, "while (ready[blockIdx.x - 1] == 0) { }",
     "for (int w = 0; w < 1000 && ready[blockIdx.x - 1] == 0; ++w) { }"},
    {"another block's sum", chain, "b = prefix[blockIdx.x - 1];",
     "b = prefix[blockIdx.x > 1 ? blockIdx.x - 2 : 0];"},
    {"one buffer for two", scan, "pout = 1 - pout;\n        pin = 1 - pout;", "pin = pout;"},
    {"no barrier between rounds", scan, "temp[pin * n + thid];\n        __syncthreads();",
     "temp[pin * n + thid];"},
    {"a barrier in one branch", scan,
     "            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];\n  "
     "      "
     "else\n            temp[pout * n + thid] = temp[pin * n + thid];\n        __syncthreads();",
     "        {\n            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - "
     "offset];\n            __syncthreads();\n        } else\n            temp[pout * n + thid] = "
     "temp[pin * n + thid];"},
    {"half of the room", scan, "2 * 128 * sizeof(float)", "128 * sizeof(float)"},
    {"a return before the barrier", reversed, "    if (i < n)\n        buf[threadIdx.x] = src[i];",
     "    if (i >= n) return;\n    buf[threadIdx.x] = src[i];"},
    {"a barrier within the guard", reversed,
     "        buf[threadIdx.x] = src[i];\n    __syncthreads();",
     "    {\n        buf[threadIdx.x] = src[i];\n        __syncthreads();\n    }"},
    {"the neighbour block's row", reversed, "dst[i] = buf[last - threadIdx.x]",
     "dst[i] = threadIdx.x == 0 && i > 0 ? dst[i - 1] : buf[last - threadIdx.x]"},
    {"a minimum in two steps", labels, "int old = atomicMin(&label[w], mine);",
     "int old = label[w];\n            if (mine < old) label[w] = mine;"},
    {"an exchange for a minimum", labels, "atomicMin(&label[w], mine)",
     "atomicExch(&label[w], mine)"},
    {"a claim in two steps", claims, "int old = atomicCAS(&owner[cell[i]], 0, 7);",
     "int old = owner[cell[i]];\n    if (old == 0) owner[cell[i]] = 7;"},
    {"a claim that overwrites", claims, "atomicCAS(&owner[cell[i]], 0, 7)",
     "atomicExch(&owner[cell[i]], 7)"},
    {"a counter without its atomic", claims, "atomicAdd(lost, 1)", "*lost += 1"},
    {"volatile and the warp's barriers dropped", tree, "__shared__ volatile float s[threads];",
     "__shared__ float s[threads];\n#define __syncwarp()"},
    {"the warp's barrier of one half", tree, "s[t] = s[t] + s[t + 32]; __syncwarp();",
     "s[t] = s[t] + s[t + 32]; __syncwarp(0xffff);"},
    {"no barrier before the last warp", tree,
     "if (t < 64) s[t] = s[t] + s[t + 64]; __syncthreads(); }",
     "if (t < 64) s[t] = s[t] + s[t + 64]; }"},
    {"a barrier for those who add", tree,
     "{ if (t < 64) s[t] = s[t] + s[t + 64]; __syncthreads(); }",
     "if (t < 64) { s[t] = s[t] + s[t + 64]; __syncthreads(); }"},
};

INSTANTIATE_TEST_SUITE_P(Edits, PlantedOrder, ::testing::ValuesIn(sampleOf(wrong, 10)), numberOf);

class RightOrder : public PlantedEdits {};

TEST_P(RightOrder, IsAccepted) {
    const Verdict right = verdict();
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

const std::vector<PlantedEdit> right{
    {"bins of a byte's upper bits", bins, "data[pos] >> 2", "data[pos] / 4"},
    {"the value again", extremes, "atomicMax(highest, v)", "atomicMax(highest, values[tid])"},
    {"a shift down for the butterfly", warps, "__shfl_xor_sync(FULL, v, offset)",
     "__shfl_down_sync(FULL, v, offset)", skills::Numerics::Reassociates},
    {"the distance as a shift", groups, "d *= 2", "d <<= 1"},
    {"the lanes below by a product", compaction, "(1u << lane) - 1", "~(~0u << lane)"},
    {"a fence more", chain, "before = b;", "before = b;\n        __threadfence();"},
    {"the buffers exchanged", scan, "pout = 1 - pout;\n        pin = 1 - pout;",
     "pin = pout;\n        pout ^= 1;"},
    {"the end first", reversed, "min(n - (int)(blockIdx.x * blockDim.x), (int)blockDim.x)",
     "min((int)blockDim.x, n - (int)(blockIdx.x * blockDim.x))"},
    {"no atomic where nothing changes", labels, "int old = atomicMin(&label[w], mine);",
     "int old = atomicMin(label + w, mine);"},
    {"a claim by a pointer", claims, "&owner[cell[i]]", "owner + cell[i]"},
    {"sums of pairs", tree, "s[t] = s[t] + s[t + 128]", "s[t] += s[t + 128]"},
};

INSTANTIATE_TEST_SUITE_P(Edits, RightOrder, ::testing::ValuesIn(sampleOf(right, 11)), numberOf);

} // namespace
} // namespace kernelskill::engine
