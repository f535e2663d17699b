#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "segmented-reduction";

const std::string includes = "#include <cooperative_groups.h>\n"
                             "#include <cooperative_groups/reduce.h>\n";

/// A kernel with `body` behind its index.
std::string scattering(const std::string& body, const std::string& head = "") {
    return head +
           "__global__ void k(const int* key, const float* value, float* sums, int* counts, int n) "
           "{\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body +
           "}\nvoid run(const int* a, const float* b, float* c, int* d, int n) {\n"
           "    k<<<(n + 255) / 256, 256>>>(a, b, c, d, n);\n}\n";
}

TEST(SegmentedReduction, CombinesTheUpdatesOfOneTarget) {
    checkApplicable(id,
                    scattering("    if (i >= n)\n        return;\n    const int c = key[i];\n"
                               "    atomicAdd(&sums[c], value[i]);\n    atomicAdd(counts, 1);\n"),
                    scattering("    if (i >= n)\n        return;\n    const int c = key[i];\n"
                               "    const auto alike =\n"
                               "        cooperative_groups::labeled_partition("
                               "cooperative_groups::coalesced_threads(), c);\n"
                               "    float sum = value[i];\n"
                               "    sum = cooperative_groups::reduce(alike, sum, "
                               "cooperative_groups::plus<float>());\n"
                               "    if (alike.thread_rank() == 0)\n"
                               "        atomicAdd(&sums[c], sum);\n    atomicAdd(counts, 1);\n",
                               includes));
}

TEST(SegmentedReduction, NamesWhatIsNoNameYet) {
    const std::string text =
        appliedText(id, scattering("    for (int j = 0; j < n; ++j)\n"
                                   "        atomicAdd(sums + (key[i] * n + j), value[i]);\n"));
    EXPECT_TRUE(text.contains("    for (int j = 0; j < n; ++j) {\n"
                              "        const int target = key[i] * n + j;\n"))
        << text;
    EXPECT_TRUE(text.contains("            atomicAdd(sums + (target), sum);\n    }\n")) << text;
}

TEST(SegmentedReduction, KeepsACommentBeforeTheUpdate) {
    const std::string text =
        appliedText(id, scattering("    if (i < n) // in bounds\n"
                                   "        atomicAdd(&sums[key[i]], 1.0f);\n"));
    EXPECT_TRUE(
        text.contains("    if (i < n) { // in bounds\n        const int target = key[i];\n"))
        << text;
}

TEST(SegmentedReduction, TakesSeveralIndicesAndOtherOperations) {
    const std::string text = appliedText(
        id,
        scattering("    float target = 0;\n    if (i < n) atomicMax(&counts[2 * key[i] + 1], i);\n",
                   "#include <cooperative_groups.h>\n\n"));
    EXPECT_TRUE(text.starts_with(includes)) << text;
    EXPECT_TRUE(text.contains("    if (i < n) {\n"
                              "        const int target2 = 2 * key[i] + 1;\n"
                              "        const auto alike =\n"))
        << text;
    EXPECT_TRUE(text.contains("        int combined = i;\n"
                              "        combined = cooperative_groups::reduce(alike, combined, "
                              "cooperative_groups::greater<int>());\n"
                              "        if (alike.thread_rank() == 0)\n"
                              "            atomicMax(&counts[target2], combined);\n"
                              "    }\n"))
        << text;
    EXPECT_EQ(offeredNumerics(id, scattering("    if (i < n) atomicMax(&counts[key[i]], i);\n")),
              Numerics::Exact);
}

TEST(SegmentedReduction, IsAboutTheUpdateAtTheCursor) {
    checkTarget(id,
                scattering("    if (i >= n) return;\n    atomicAdd(&sums[key[i]], value[i]);\n"
                           "    atomicAdd($0&counts[key[i]], 1);\n"),
                "atomicAdd(&counts[key[i]], 1);");
}

std::string product(const std::string& index, const std::string& fold, const std::string& store,
                    const std::string& loop, const std::string& grid) {
    return "__global__ void spmv(const int* start, const int* column, const float* a, const float* "
           "x, float* y, int rows) {\n    " +
           index + "    if (row < rows) {\n        float sum = 0;\n        for (" + loop +
           ")\n            sum += a[e] * x[column[e]];\n" + fold + store +
           "    }\n}\nvoid run(int n) {\n    int *start, *column;\n    float *a, *x, *y;\n"
           "    cudaMalloc(&start, n);\n    cudaMalloc(&column, n);\n    cudaMalloc(&a, n);\n"
           "    cudaMalloc(&x, n);\n    cudaMalloc(&y, n);\n    spmv<<<" +
           grid + ", 256>>>(start, column, a, x, y, n);\n}\n";
}

const std::string rows = product("const int row = blockIdx.x * blockDim.x + threadIdx.x;\n", "",
                                 "        y[row] = sum;\n",
                                 "int e = start[row]; e < start[row + 1]; ++e", "(n + 255) / 256");

TEST(SegmentedReduction, GivesRaggedRowsToAFewLanes) {
    checkApplicable(id, rows,
                    product("const int row = blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8;\n"
                            "    const int lane = threadIdx.x % 8;\n"
                            "    const unsigned mask = 0xffu << (threadIdx.x % 32 - lane);\n",
                            "        for (int offset = 4; offset > 0; offset /= 2)\n"
                            "            sum += __shfl_xor_sync(mask, sum, offset);\n",
                            "        if (lane == 0)\n            y[row] = sum;\n",
                            "int e = start[row] + lane; e < start[row + 1]; e += 8",
                            "(n + 255) / 256 * 8"));
}

TEST(SegmentedReduction, OffersOtherNumbersOfLanes) {
    const Subject subject = parseSubject(rows);
    const Skill& skill = skillNamed(id);
    const auto first = skill.prepare(subject.context());
    ASSERT_TRUE(first) << first.error().reason;
    std::vector<int> lanes{first->option};
    for (const Offer& offer : skill.alternatives(subject.context())) {
        lanes.push_back(offer.option);
        const auto edits = skill.apply(subject.context(), offer);
        ASSERT_TRUE(edits) << edits.error().describe();
    }
    EXPECT_EQ(lanes, (std::vector{8, 4, 16, 2}));
}

class SegmentedReductionGates : public testing::TestWithParam<GateCase> {};

TEST_P(SegmentedReductionGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, SegmentedReductionGates,
    testing::Values(
        GateCase{"OtherAtomic", "no-operation",
                 scattering("    atomicExch(&counts[key[i]], i);\n")},
        GateCase{"NoShuffle", "no-operation",
                 "#include <cuda_fp16.h>\n__global__ void k(const int* key, __half* c) {\n"
                 "    atomicAdd(&c[key[threadIdx.x]], __half(1.0f));\n}\n"
                 "void run(int* a, __half* c) { k<<<1, 32>>>(a, c); }\n"},
        GateCase{"OtherType", "no-key",
                 "__global__ void k(const int* key, float* c) {\n"
                 "    atomicMax((int*)&c[key[threadIdx.x]], 1);\n}\n"
                 "void run(int* a, float* c) { k<<<1, 32>>>(a, c); }\n"},
        GateCase{"ResultUsed", "result-used",
                 scattering("    counts[i] = atomicAdd(&sums[key[i]], 1.0f);\n")},
        GateCase{"ByMatch", "already-combined",
                 scattering("    unsigned peers = __match_any_sync(0xffffffff, key[i]);\n"
                            "    if (__ffs(peers) - 1 == threadIdx.x % 32)\n"
                            "        atomicAdd(&counts[key[i]], __popc(peers));\n")},
        GateCase{"NoIndex", "no-key",
                 scattering("    float* p = &sums[key[i]];\n    atomicAdd(p, 1.0f);\n")},
        GateCase{"MovedBase", "own-base",
                 scattering("    sums += i;\n    atomicAdd(&sums[key[i]], 1.0f);\n")},
        GateCase{"SharedTarget", "not-global",
                 scattering("    __shared__ int bins[64];\n    bins[threadIdx.x % 64] = 0;\n"
                            "    __syncthreads();\n    atomicAdd(&bins[key[i]], 1);\n"
                            "    __syncthreads();\n    counts[i] = bins[0];\n")},
        GateCase{"KnownTarget", "known-target", scattering("    atomicAdd(&sums[i / 2], 1.0f);\n")},
        GateCase{"OneThread", "one-thread-updates",
                 scattering("    if (threadIdx.x == 0)\n"
                            "        atomicAdd(&sums[key[blockIdx.x]], 1.0f);\n")},
        GateCase{"FromMacro", "from-macro",
                 scattering("    ADD(key[i]);\n", "#define ADD(at) atomicAdd(&sums[at], 1.0f)\n")},
        GateCase{"RowsOfOneLength", "even-rows",
                 product("const int row = blockIdx.x * blockDim.x + threadIdx.x;\n", "",
                         "        y[row] = sum;\n", "int e = row * rows; e < (row + 1) * rows; ++e",
                         "(n + 255) / 256")},
        GateCase{"NoSegments", "no-row-loop", scattering("    if (i < n) sums[i] = value[i];\n")}),
    [](const testing::TestParamInfo<GateCase>& each) { return each.param.name; });

} // namespace
} // namespace kernelskill::skills
