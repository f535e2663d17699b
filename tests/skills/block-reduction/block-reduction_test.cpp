#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "block-reduction";

TEST(BlockReduction, GathersASumInRegisters) {
    checkApplicable(id, R"(
__global__ void sum(const float* in, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // All meet here.
    if (i < n)
        atomicAdd(total, in[i] * 2.0f); // doubled
}
void run(const float* in, float* total, int n) { sum<<<(n + 127) / 128, 128>>>(in, total, n); }
)",
                    R"(
__global__ void sum(const float* in, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Each thread gathers its own; one atomic a block updates total.
    __shared__ float blockTotal;
    if (threadIdx.x == 0)
        blockTotal = 0.0f;
    __syncthreads();
    float threadTotal = 0.0f;
    // All meet here.
    if (i < n)
        threadTotal += in[i] * 2.0f; // doubled
    for (int offset = 16; offset > 0; offset /= 2)
        threadTotal += __shfl_down_sync(0xffffffff, threadTotal, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&blockTotal, threadTotal);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(total, blockTotal);
}
void run(const float* in, float* total, int n) { sum<<<(n + 127) / 128, 128>>>(in, total, n); }
)");
}

TEST(BlockReduction, KeepsAPragmaBeforeItsLoop) {
    const std::string text = appliedText(id, R"(
__global__ void sum(const float* in, float* total, int n) {
    #pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] > 0)
            atomicAdd(total, in[i]);
}
void run(const float* in, float* total, int n) { sum<<<64, 128>>>(in, total, n); }
)");
    EXPECT_TRUE(text.contains("    float threadTotal = 0.0f;\n    #pragma unroll 4\n    for ("))
        << text;
}

TEST(BlockReduction, KeepsTheThreadsThatLeaveEarly) {
    checkApplicable(id, R"(
__global__ void count(const int* keys, unsigned long long* out_count, int n, int key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || key < 0)
        return; // nothing to do
    // Matches only.

    if (keys[i] == key) {
        atomicAdd(out_count, 1ull);
    }
}
void run(const int* keys, unsigned long long* c, int n) { count<<<n, 32>>>(keys, c, n, 7); }
)",
                    R"(
__global__ void count(const int* keys, unsigned long long* out_count, int n, int key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Each thread gathers its own; one atomic a warp updates out_count.
    unsigned long long thread_out_count = 0;
    if (i < n && key >= 0) { // nothing to do
        // Matches only.

        if (keys[i] == key) {
            thread_out_count += 1ull;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2)
        thread_out_count += __shfl_down_sync(0xffffffff, thread_out_count, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out_count, thread_out_count);
}
void run(const int* keys, unsigned long long* c, int n) { count<<<n, 32>>>(keys, c, n, 7); }
)");
}

TEST(BlockReduction, KeepsThoseThatSeveralChecksSendAway) {
    checkApplicable(id, R"(
__global__ void norm(const double* now, const double* before, const char* mask, double* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const double d = now[i] - before[i];
    if (!mask[i]) {
        return;
    }
    atomicAdd(error, d * d);
}
void run(const double* a, const double* b, const char* m, double* e, int n) {
    norm<<<(n + 255) / 256, 256>>>(a, b, m, e, n);
}
)",
                    R"(
__global__ void norm(const double* now, const double* before, const char* mask, double* error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Each thread gathers its own; one atomic a block updates error.
    __shared__ double blockError;
    if (threadIdx.x == 0)
        blockError = 0.0;
    __syncthreads();
    double threadError = 0.0;
    if (i < n) {
        const double d = now[i] - before[i];
        if (!(!mask[i])) {
            threadError += d * d;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2)
        threadError += __shfl_down_sync(0xffffffff, threadError, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&blockError, threadError);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(error, blockError);
}
void run(const double* a, const double* b, const char* m, double* e, int n) {
    norm<<<(n + 255) / 256, 256>>>(a, b, m, e, n);
}
)");
}

TEST(BlockReduction, ReducesSeveralAddressesSideBySide) {
    checkApplicable(id, R"(
__global__ void boundingBox(const int* xs, int* box, int n) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicMin(&box[0], xs[i]);
        atomicMax(&box[1], xs[i]);
    }
}
void run(const int* xs, int* box, int n) { boundingBox<<<(n + 255) / 256, 256>>>(xs, box, n); }
)",
                    R"(
__global__ void boundingBox(const int* xs, int* box, int n) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    // Each thread gathers its own; one atomic a block updates box.
    __shared__ int blockBox0;
    __shared__ int blockBox1;
    if (threadIdx.x == 0) {
        blockBox0 = 0x7fffffff;
        blockBox1 = -0x7fffffff - 1;
    }
    __syncthreads();
    int threadBox0 = 0x7fffffff;
    int threadBox1 = -0x7fffffff - 1;
    if (i < n) {
        threadBox0 = min(threadBox0, xs[i]);
        threadBox1 = max(threadBox1, xs[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        threadBox0 = min(threadBox0, __shfl_down_sync(0xffffffff, threadBox0, offset));
        threadBox1 = max(threadBox1, __shfl_down_sync(0xffffffff, threadBox1, offset));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMin(&blockBox0, threadBox0);
        atomicMax(&blockBox1, threadBox1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&box[0], blockBox0);
        atomicMax(&box[1], blockBox1);
    }
}
void run(const int* xs, int* box, int n) { boundingBox<<<(n + 255) / 256, 256>>>(xs, box, n); }
)");
}

TEST(BlockReduction, FindsTheLaneInASquareBlock) {
    const std::string text = appliedText(id, R"(
__global__ void residual(const double* a, const double* b, double* error, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) {
        double d = a[y * w + x] - b[y * w + x];
        atomicAdd(error, d * d);
    }
}
void run(const double* a, const double* b, double* e, int w, int h) {
    dim3 block(16, 16);
    residual<<<dim3((w + 15) / 16, (h + 15) / 16), block>>>(a, b, e, w, h);
}
)");
    EXPECT_TRUE(text.contains("if ((threadIdx.y * blockDim.x + threadIdx.x) % 32 == 0)")) << text;
    EXPECT_TRUE(text.contains("threadIdx.x == 0 && threadIdx.y == 0")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(BlockReduction, FoldsOtherOperationsFromTheirNeutralValue) {
    const std::string text = appliedText(id, R"(
__global__ void largest(const int* in, int* best, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicMax(best, in[i]);
}
void run(const int* in, int* best, int n) { largest<<<64, 256>>>(in, best, n); }
)");
    EXPECT_TRUE(text.contains("int threadBest = -0x7fffffff - 1;")) << text;
    EXPECT_TRUE(text.contains("threadBest = max(threadBest, in[i]);")) << text;
    EXPECT_TRUE(text.contains("threadBest = max(threadBest, __shfl_down_sync")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(BlockReduction, DoesWithTheValueWhatTheParameterDid) {
    const std::string text = appliedText(id, R"(
__global__ void count(const float* in, int* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&total[blockIdx.y], in[i]);
}
void run(const float* in, int* total, int n) { count<<<n / 64, 64>>>(in, total, n); }
)");
    EXPECT_TRUE(text.contains("threadTotal += static_cast<int>(in[i]);")) << text;
    EXPECT_TRUE(text.contains("if (threadIdx.x == 0 && blockTotal != 0)")) << text;
    EXPECT_TRUE(text.contains("atomicAdd(&total[blockIdx.y], blockTotal);")) << text;
}

TEST(BlockReduction, AddsUpAWarpForATotalInSharedMemory) {
    checkApplicable(id, R"(
__global__ void blockSum(const float* in, float* out, int n) {
    __shared__ float total;
    if (threadIdx.x == 0)
        total = 0.f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&total, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}
void run(const float* in, float* out, int n) { blockSum<<<(n + 255) / 256, 256>>>(in, out, n); }
)",
                    R"(
__global__ void blockSum(const float* in, float* out, int n) {
    __shared__ float total;
    if (threadIdx.x == 0)
        total = 0.f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Each thread gathers its own; one atomic a warp updates total.
    float threadTotal = 0.0f;
    if (i < n)
        threadTotal += in[i];
    for (int offset = 16; offset > 0; offset /= 2)
        threadTotal += __shfl_down_sync(0xffffffff, threadTotal, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, threadTotal);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}
void run(const float* in, float* out, int n) { blockSum<<<(n + 255) / 256, 256>>>(in, out, n); }
)");
}

TEST(BlockReduction, UpdatesAMemberOfAnObject) {
    const std::string text = appliedText(id, R"(
struct Statistics { int rows; double sum; };
__global__ void total(const double* in, Statistics* statistics) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < statistics->rows)
        atomicAdd(&statistics->sum, in[i]);
}
void run(const double* in, Statistics* s, int n) { total<<<(n + 255) / 256, 256>>>(in, s); }
)");
    EXPECT_TRUE(text.contains("double threadStatistics = 0.0;")) << text;
    EXPECT_TRUE(text.contains("atomicAdd(&statistics->sum, blockStatistics);")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(BlockReduction, CountsInAGlobalVariable) {
    const std::string text = appliedText(id, R"(
__device__ int changed;
__global__ void assign(const int* nearest, int* membership, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (membership[i] != nearest[i]) {
        membership[i] = nearest[i];
        atomicAdd(&changed, 1);
    }
}
void run(const int* a, int* b, int n) { assign<<<(n + 255) / 256, 256>>>(a, b, n); }
)");
    EXPECT_TRUE(text.contains("threadChanged += 1;")) << text;
    EXPECT_TRUE(text.contains("    if (i < n) {\n        if (membership[i]")) << text;
    EXPECT_TRUE(text.contains("atomicAdd(&changed, blockChanged);")) << text;
}

TEST(BlockReduction, IsAboutTheAtomicAtTheCursor) {
    const std::string source = R"(
__global__ void k(const int* in, int* count, float* sum, const float* w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(count, in[i]);
        atomicAdd(su$0m, w[i]);
    }
}
void run(const int* in, int* c, float* s, const float* w, int n) { k<<<n, 64>>>(in, c, s, w, n); }
)";
    checkTarget(id, source, "atomicAdd(sum, w[i])");
    EXPECT_EQ(offeredNumerics(id, source), Numerics::Reassociates);
}

TEST(BlockReduction, SaysWhatItSaves) {
    const auto gainOf = [](const std::string& type) {
        const Subject subject =
            parseSubject("__global__ void sum(const " + type + "* in, " + type +
                         "* total) {\n    atomicAdd(total, in[threadIdx.x]);\n}\n"
                         "void run(const " +
                         type + "* in, " + type + "* t) { sum<<<1, 256>>>(in, t); }\n");
        const auto offer = skillNamed(id).prepare(subject.context());
        EXPECT_TRUE(offer) << offer.error().reason;
        return offer && offer->gain ? offer->gain->factor : 0;
    };
    EXPECT_DOUBLE_EQ(gainOf("float"), 256);
    EXPECT_DOUBLE_EQ(gainOf("unsigned"), 8); // The compiler combines a warp's.
}

/// `body` in a kernel with the usual index, launched with blocks of 64.
std::string kernelWith(const std::string& body, const std::string& block = "64") {
    return "__device__ int table[100];\n"
           "__global__ void k(const int* in, int* out, float* sum, int n, int m) "
           "{\n    int tid = threadIdx.x;\n    int i = blockIdx.x * blockDim.x + tid;\n" +
           body + "}\nvoid run(const int* in, int* out, float* sum, int n) { k<<<n, " + block +
           ">>>(in, out, sum, n, n); }\n";
}

class BlockReductionIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(BlockReductionIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, BlockReductionIsNotOffered,
    testing::Values(
        GateCase{"NoAtomic", "no-atomic", kernelWith("    out[i] = in[i];\n")},
        GateCase{"ResultUsed", "result-used",
                 kernelWith("    int slot = atomicAdd(out, 1);\n    table[slot] = i;\n")},
        GateCase{"OwnMemory", "not-global",
                 kernelWith("    int own[2];\n    atomicAdd(&own[0], in[i]);\n")},
        GateCase{"Exchange", "no-reduction", kernelWith("    atomicExch(out, in[i]);\n")},
        GateCase{"Mixed", "mixed-operations",
                 kernelWith("    atomicAdd(out, in[i]);\n    atomicMax(out, in[i]);\n")},
        GateCase{"MaybeMixed", "mixed-operations",
                 kernelWith("    atomicAdd(&out[n], in[i]);\n    atomicMax(&out[m], in[i]);\n")},
        GateCase{"OneThread", "one-thread-updates",
                 kernelWith("    if (tid == 0)\n        atomicAdd(out, in[blockIdx.x]);\n")},
        GateCase{"FirstLane", "one-thread-updates",
                 kernelWith("    if (i < n && !(tid & 31))\n        atomicAdd(out, in[i]);\n")},
        GateCase{"ReadElsewhere", "used-beside",
                 kernelWith("    if (out[0] < m)\n        atomicAdd(out, in[i]);\n")},
        GateCase{"Fence", "orders-memory",
                 kernelWith("    atomicAdd(out, in[i]);\n    __threadfence();\n")},
        GateCase{"Bins", "addresses-differ", kernelWith("    atomicAdd(&out[in[i]], 1);\n")},
        GateCase{"ElementEach", "addresses-differ", kernelWith("    atomicAdd(&out[tid], 1);\n")},
        GateCase{"ManyAddresses", "many-addresses",
                 kernelWith("    atomicAdd(&sum[0], 1.f);\n    atomicAdd(&sum[1], 1.f);\n"
                            "    atomicAdd(&sum[2], 1.f);\n    atomicAdd(&sum[3], 1.f);\n"
                            "    atomicAdd(&sum[4], 1.f);\n    atomicAdd(&sum[5], 1.f);\n"
                            "    atomicAdd(&sum[6], 1.f);\n    atomicAdd(&sum[7], 1.f);\n"
                            "    atomicAdd(&sum[8], 1.f);\n")},
        GateCase{"OneOfSeveral", "one-of-several",
                 kernelWith("    if (in[i] > 0)\n        atomicAdd(&out[0], 1);\n    else\n        "
                            "atomicAdd(&out[1], 1);\n")},
        GateCase{"Halves", "element-type",
                 "#include <cuda_fp16.h>\n__global__ void k(__half* v, const __half* in) {\n    "
                 "atomicAdd(v, in[threadIdx.x]);\n}\n"
                 "void run(__half* v) { k<<<1, 64>>>(v, v); }\n"},
        GateCase{"ExitInLoop", "early-exit",
                 kernelWith("    for (int k = 0; k < m; ++k) {\n        if (in[k])\n            "
                            "return;\n        atomicAdd(out, 1);\n    }\n")},
        GateCase{"PartialWarps", "partial-warps", kernelWith("    atomicAdd(out, in[i]);\n", "48")},
        GateCase{"UnknownBlock", "unknown-block", kernelWith("    atomicAdd(out, in[i]);\n", "n")},
        GateCase{"OneWarpOfIntegers", "combined-already",
                 kernelWith("    atomicAdd(out, in[i]);\n", "32")},
        GateCase{"IntegersInSharedMemory", "combined-already",
                 kernelWith("    __shared__ int s;\n    atomicAdd(&s, in[i]);\n")},
        GateCase{"BarrierBetween", "barrier-between",
                 kernelWith("    __shared__ float s;\n    atomicAdd(&s, 1.f);\n    "
                            "__syncthreads();\n    atomicAdd(&s, 2.f);\n")},
        GateCase{"ReadInItsPhase", "used-beside",
                 kernelWith("    __shared__ float s;\n    if (s < 4.f)\n        atomicAdd(&s, "
                            "1.f);\n")},
        GateCase{"SameMemory", "may-alias",
                 "__global__ void k(const float* in, float* sum) {\n    atomicAdd(sum, "
                 "in[threadIdx.x]);\n}\n"
                 "void run(float* x, int n) { k<<<1, 64>>>(x, x + n); }\n"},
        GateCase{"OneLine", "several-statements-a-line",
                 kernelWith("    if (i < n) atomicAdd(out, 1); table[0] = 0;\n")},
        GateCase{"Macro", "from-macro",
                 "#define ADD(p, v) atomicAdd(p, v)\n" + kernelWith("    ADD(out, in[i]);\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
