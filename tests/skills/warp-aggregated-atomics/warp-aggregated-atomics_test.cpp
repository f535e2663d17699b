#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "warp-aggregated-atomics";

TEST(WarpAggregatedAtomics, TakesPlacesBehindAnEarlyReturn) {
    checkApplicable(id, R"(
__global__ void select(const int* key, int low, int high, int* selected, unsigned* count, int rows) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    // Both ends count.
    if (key[r] >= low && key[r] <= high)
        selected[atomicAdd(count, 1)] = r; // in any order
}
void run(const int* k, int* s, unsigned* c, int n) { select<<<(n + 127) / 128, 128>>>(k, 1, 9, s, c, n); }
)",
                    R"(
__global__ void select(const int* key, int low, int high, int* selected, unsigned* count, int rows) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    // The block's threads take their places among each other; one atomic a block updates count.
    __shared__ int warpStarts[4];
    __shared__ unsigned int blockStart;
    bool takesPlace = false;
    if (r < rows) {
        // Both ends count.
        if (key[r] >= low && key[r] <= high)
            takesPlace = true;
    }
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const unsigned int takers = __ballot_sync(0xffffffff, takesPlace);
    if (lane == 0)
        warpStarts[warp] = __popc(takers);
    __syncthreads();
    if (threadIdx.x == 0) {
        int count2 = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            const int ofWarp = warpStarts[w];
            warpStarts[w] = count2;
            count2 += ofWarp;
        }
        blockStart = atomicAdd(count, count2);
    }
    __syncthreads();
    if (takesPlace) {
        const int place = warpStarts[warp] + __popc(takers & ((1u << lane) - 1));
        selected[blockStart + place] = r; // in any order
    }
}
void run(const int* k, int* s, unsigned* c, int n) { select<<<(n + 127) / 128, 128>>>(k, 1, 9, s, c, n); }
)");
}

TEST(WarpAggregatedAtomics, KeepsWhatTheCodeBehindTheAtomicUses) {
    checkApplicable(id, R"(
__global__ void allocate(const int* lengths, const float* values, int* rows, float* first, int* size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int length = lengths[i];
    const auto value = values[i];
    int start = atomicAdd(size, length);
    rows[i] = start;
    if (length > 0)
        first[start] = value;
}
void run(const int* l, const float* v, int* r, float* f, int* s, int n) { allocate<<<(n + 255) / 256, 256>>>(l, v, r, f, s, n); }
)",
                    R"(
__global__ void allocate(const int* lengths, const float* values, int* rows, float* first, int* size, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // The block's threads take their places among each other; one atomic a block updates size.
    __shared__ int warpStarts[8];
    __shared__ int blockStart;
    bool takesPlace = false;
    int amount = 0;
    int length = 0;
    float value = 0.0f;
    if (i < n) {
        length = lengths[i];
        value = values[i];
        takesPlace = true;
        amount = length;
    }
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    int sum = amount;
    for (int offset = 1; offset < 32; offset *= 2) {
        const int below = __shfl_up_sync(0xffffffff, sum, offset);
        if (lane >= offset)
            sum += below;
    }
    if (lane == 31)
        warpStarts[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int count = 0;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            const int ofWarp = warpStarts[w];
            warpStarts[w] = count;
            count += ofWarp;
        }
        blockStart = atomicAdd(size, count);
    }
    __syncthreads();
    if (takesPlace) {
        const int place = warpStarts[warp] + sum - amount;
        int start = blockStart + place;
        rows[i] = start;
        if (length > 0)
            first[start] = value;
    }
}
void run(const int* l, const float* v, int* r, float* f, int* s, int n) { allocate<<<(n + 255) / 256, 256>>>(l, v, r, f, s, n); }
)");
}

TEST(WarpAggregatedAtomics, ServesBothSidesOfAPartition) {
    const std::string text = appliedText(id, R"(
__global__ void split(const float* in, float* low, float* high, int* sizes, unsigned long long* above, int n) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < n) {
        float v = in[i];
        if (v < 0.5f) {
            low[atomicAdd(&sizes[0], 1)] = v;
        } else {
            unsigned long long at;
            at = atomicAdd(ab$0ove, 1ull);
            high[at] = v;
        }
    }
}
void run(const float* in, float* l, float* h, int* s, unsigned long long* a, int n) {
    split<<<(n + 255) / 256, 256>>>(in, l, h, s, a, n);
}
)");
    EXPECT_TRUE(text.contains("            low[atomicAdd(&sizes[0], 1)] = v;")) << text;
    EXPECT_TRUE(text.contains("            takesPlace = true;")) << text;
    EXPECT_TRUE(text.contains("        at = blockStart + place;\n        high[at] = v;")) << text;
    EXPECT_TRUE(text.contains("    unsigned long long at = 0;\n")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(WarpAggregatedAtomics, TakesFromAStackInASquareBlock) {
    const std::string text = appliedText(id, R"(
struct Pool { int free; int* slots; };
__global__ void take(const bool* wants, Pool* pool, int* got, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h && wants[y * w + x]) {
        const int slot = atomicSub(&pool->free, 1) - 1;
        got[y * w + x] = slot;
    }
}
void run(const bool* w, Pool* p, int* g, int n) { take<<<dim3(4, 4), dim3(16, 16)>>>(w, p, g, n, n); }
)");
    EXPECT_TRUE(text.contains("const int slot = (blockStart - place) - 1;")) << text;
    EXPECT_TRUE(text.contains("blockStart = atomicSub(&pool->free, count);")) << text;
    EXPECT_TRUE(text.contains("const int lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;"))
        << text;
    EXPECT_TRUE(text.contains("threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(WarpAggregatedAtomics, AsksForRoomBehindTheAtomic) {
    const std::string text = appliedText(id, R"(
#define CAPACITY 1000
__device__ unsigned tail;
template <typename T>
__global__ void push(const T* in, T* queue, int n) {
    int tid = threadIdx.x;
    int gid = blockIdx.x * blockDim.x + tid;
    if (gid < n && in[gid] > T(0)) {
        unsigned at = atomicInc(&tail, 0xffffffffu);
        if (at < CAPACITY)
            queue[at] = in[gid];
    }
}
void run(const float* in, float* q, int n) { push<float><<<(n + 255) / 256, 256>>>(in, q, n); }
)");
    EXPECT_TRUE(text.contains("blockStart = atomicAdd(&tail, count);")) << text;
    EXPECT_TRUE(text.contains("        unsigned at = blockStart + place;\n")) << text;
    EXPECT_TRUE(text.contains("            queue[at] = in[gid];\n    }\n}")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(WarpAggregatedAtomics, LeavesTheCodeBehindTheConditionsThere) {
    const std::string text = appliedText(id, R"(
__global__ void push(const int* in, int* queue, int* size, int* seen, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        queue[atomicAdd(size, 1)] = i;
    if (i < n)
        seen[i] = 1;
}
void run(const int* in, int* q, int* s, int* seen, int n) { push<<<n / 64 + 1, 64>>>(in, q, s, seen, n); }
)");
    EXPECT_TRUE(text.contains("        queue[blockStart + place] = i;\n    }\n    if (i < n)\n"))
        << text;
}

TEST(WarpAggregatedAtomics, TakesThreePlacesAtOnce) {
    const std::string text = appliedText(id, R"(
__global__ void corners(const int* in, int* out, unsigned* size, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) {
        const unsigned at = atomicAdd(size, 3u);
        for (int k = 0; k < 3; ++k)
            out[at + k] = in[i] + k;
    }
}
void run(const int* in, int* out, unsigned* s, int n) { corners<<<(n + 255) / 256, 256>>>(in, out, s, n); }
)");
    EXPECT_TRUE(text.contains("blockStart = atomicAdd(size, 3u * count);")) << text;
    EXPECT_TRUE(text.contains("const unsigned at = blockStart + 3u * place;")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(WarpAggregatedAtomics, TakesAPushOnTheLineOfItsCondition) {
    const std::string text = appliedText(id, R"(
__global__ void push(const int* in, int* queue, int* size, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) queue[atomicAdd(size, 1)] = i;
}
void run(const int* in, int* q, int* s, int n) { push<<<n / 64 + 1, 64>>>(in, q, s, n); }
)");
    EXPECT_TRUE(text.contains("    if (i < n && in[i] > 0) takesPlace = true;\n")) << text;
    EXPECT_TRUE(text.contains("        queue[blockStart + place] = i;\n    }\n}")) << text;
}

TEST(WarpAggregatedAtomics, SaysWhatItSaves) {
    const Subject subject = parseSubject(readSource("skills/warp-aggregated-atomics/before.cu"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 8); // 8 warps, which the compiler combines each.
}

/// `body` in a kernel with the usual index, launched with blocks of 64.
std::string kernelWith(const std::string& body, const std::string& block = "64") {
    return "__device__ int table[100];\n"
           "__global__ void k(const int* in, int* out, int* size, float* sum, int n, int m) "
           "{\n    int tid = threadIdx.x;\n    int i = blockIdx.x * blockDim.x + tid;\n" +
           body + "}\nvoid run(const int* in, int* out, float* sum, int n) { k<<<n, " + block +
           ">>>(in, out, out + n, sum, n, n); }\n";
}

class WarpAggregatedAtomicsIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(WarpAggregatedAtomicsIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

const std::string push = "    if (in[i] > 0)\n        out[atomicAdd(size, 1)] = i;\n";

INSTANTIATE_TEST_SUITE_P(
    Gates, WarpAggregatedAtomicsIsNotOffered,
    testing::Values(
        GateCase{"NoAtomic", "no-atomic", kernelWith("    out[i] = in[i];\n")},
        GateCase{"ResultUnused", "result-unused", kernelWith("    atomicAdd(size, 1);\n")},
        GateCase{"Maximum", "not-a-counter",
                 kernelWith("    if (atomicMax(size, in[i]) > 0)\n        out[i] = 1;\n")},
        GateCase{"WrappingCounter", "not-a-counter",
                 kernelWith("    out[atomicInc((unsigned*)size, 15u)] = i;\n")},
        GateCase{"Floats", "element-type",
                 kernelWith("    float before = atomicAdd(sum, 1.f);\n    out[i] = before;\n")},
        GateCase{"SharedCounter", "not-global",
                 kernelWith("    __shared__ int s;\n    out[atomicAdd(&s, 1)] = i;\n")},
        GateCase{"CounterOfEach", "counter-differs",
                 kernelWith("    out[atomicAdd(&size[in[i]], 1)] = i;\n")},
        GateCase{"ReadElsewhere", "used-beside",
                 kernelWith("    if (*size < m)\n        out[atomicAdd(size, 1)] = i;\n")},
        GateCase{"Fence", "orders-memory", kernelWith(push + "    __threadfence();\n")},
        GateCase{"OneThread", "one-thread-updates",
                 kernelWith("    if (tid == 0)\n        out[atomicAdd(size, 1)] = i;\n")},
        GateCase{"InLoop", "in-loop",
                 kernelWith("    for (int k = 0; k < in[i]; ++k)\n        out[atomicAdd(size, 1)] "
                            "= k;\n")},
        GateCase{
            "InCondition", "in-condition",
            kernelWith("    int at = in[i] > 0 ? atomicAdd(size, 1) : -1;\n    out[i] = at;\n")},
        GateCase{"WorkBehind", "work-behind",
                 kernelWith("    if (i < n) {\n        if (in[i] > 0)\n            "
                            "out[atomicAdd(size, 1)] = i;\n        sum[i] = 1.f;\n    }\n")},
        GateCase{"WorkBehindTheReturn", "work-behind",
                 kernelWith("    if (i >= n)\n        return;\n" + push + "    sum[i] = 1.f;\n")},
        GateCase{"WaitsBehind", "waits-behind",
                 kernelWith("    int at = atomicAdd(size, 1);\n    __syncthreads();\n    out[at] = "
                            "i;\n")},
        GateCase{"MarksWhatItAsks", "reads-written",
                 kernelWith("    if (!table[in[i]]) {\n        out[atomicAdd(size, 1)] = i;\n      "
                            "  table[in[i]] = 1;\n    }\n")},
        GateCase{"ArrayKept", "declaration",
                 kernelWith("    if (i < n) {\n        int own[2] = {in[i], i};\n        "
                            "out[atomicAdd(size, 1)] = own[0];\n    }\n")},
        GateCase{"ReferenceKept", "declaration",
                 kernelWith("    if (i < n) {\n        const int& own = in[i];\n        "
                            "out[atomicAdd(size, 1)] = own;\n    }\n")},
        GateCase{"ExitInLoop", "early-exit",
                 kernelWith("    for (int k = 0; k < m; ++k)\n        if (in[k] < 0)\n            "
                            "return;\n" +
                            push)},
        GateCase{"OneWarp", "combined-already", kernelWith(push, "32")},
        GateCase{"PartialWarps", "partial-warps", kernelWith(push, "48")},
        GateCase{"UnknownBlock", "unknown-block", kernelWith(push, "n")},
        GateCase{
            "SameMemory", "may-alias",
            "__global__ void k(const int* in, int* out, int* size) {\n    if (in[threadIdx.x])\n"
            "        out[atomicAdd(size, 1)] = in[threadIdx.x];\n}\n"
            "void run(int* x, int* s) { k<<<1, 64>>>(x, x, s); }\n"},
        GateCase{"OneLine", "several-statements-a-line",
                 kernelWith("    if (in[i] > 0) { out[atomicAdd(size, 1)] = i; table[0] = 1; }\n")},
        GateCase{"Macro", "from-macro",
                 "#define PUSH(s) atomicAdd(s, 1)\n" + kernelWith("    out[PUSH(size)] = i;\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
