#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view id = "atomics-privatization";

std::string binsOf(const std::string& bytes) {
    return R"(
__global__ void bin(const unsigned char* in, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i]], 1);
}
void run(const unsigned char* in, int* bins, int m) {
    const int n = )" +
           bytes + R"(;
    bin<<<(n + 255) / 256, 256>>>(in, bins, n);
}
)";
}

TEST(AtomicsPrivatization, TakesALimitThatEveryLaunchPasses) {
    const std::string text = appliedText(id, R"(
__global__ void bin(const float* in, int* bins, int n, int numBins, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int b = (int)(in[i] * scale);
    if (b >= 0 && b < numBins)
        atomicAdd(bins + b, 1);
}
void run(const float* in, int* bins, int n) {
    bin<<<n / 256, 256>>>(in, bins, n, 40, 2.0f);
    const int wide = 100;
    bin<<<n / 256, 256>>>(in, bins, n, wide, 2.0f);
}
)");
    EXPECT_TRUE(text.contains("__shared__ int blockBins[100];")) << text;
    EXPECT_TRUE(text.contains("entry < numBins; entry += blockDim.x")) << text;
    EXPECT_TRUE(text.contains("            atomicAdd(blockBins + b, 1);\n    }\n    __syncthreads"))
        << text;
}

TEST(AtomicsPrivatization, GivesAThreadSeveralElementsOfAnEarlyReturn) {
    checkApplicable(id, R"(
__global__ void bin(const unsigned char* in, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int b = in[i] & 15;
    atomicAdd(&bins[b], 1);
}
void run(const unsigned char* in, int* bins, int n) {
    const dim3 block(128);
    const dim3 grid((n + block.x - 1) / block.x);
    bin<<<grid, block>>>(in, bins, n);
}
)",
                    R"(
__global__ void bin(const unsigned char* in, int* bins, int n) {
    // Updates go to a table of the block, which is added to bins once.
    __shared__ int blockBins[16];
    for (int entry = threadIdx.x; entry < 16; entry += blockDim.x)
        blockBins[entry] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)blockDim.x * gridDim.x) {
        const int b = in[i] & 15;
        atomicAdd(&blockBins[b], 1);
    }
    __syncthreads();
    for (int entry = threadIdx.x; entry < 16; entry += blockDim.x)
        if (blockBins[entry] != 0)
            atomicAdd(&bins[entry], blockBins[entry]);
}
void run(const unsigned char* in, int* bins, int n) {
    const dim3 block(128);
    const dim3 grid((n + block.x - 1) / block.x);
    bin<<<dim3((grid.x + 7) / 8, grid.y, grid.z), block>>>(in, bins, n);
}
)");
}

TEST(AtomicsPrivatization, GivesLanesTablesOfTheirOwn) {
    const Subject subject = parseSubject(binsOf("1 << 20"));
    const Skill& skill = skillNamed(id);
    const Offer offer = skill.alternatives(subject.context()).front();
    EXPECT_EQ(offer.title,
              "Update bins through 16 tables in shared memory, several elements a thread");
    const auto edits = skill.apply(subject.context(), offer);
    ASSERT_TRUE(edits) << edits.error().describe();
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    ASSERT_TRUE(text) << text.error().describe();
    EXPECT_THAT(*text, HasSubstr(R"(
    // Lanes update 16 tables of the block in turns, which are added to bins once.
    __shared__ int blockBins[256][16];
    for (int entry = threadIdx.x; entry < 256 * 16; entry += blockDim.x)
        blockBins[entry / 16][entry % 16] = 0;
    __syncthreads();
)"));
    EXPECT_THAT(*text, HasSubstr("atomicAdd(&blockBins[in[i]][threadIdx.x % 16], 1);\n"));
    EXPECT_THAT(*text, HasSubstr(R"(
    __syncthreads();
    for (int entry = threadIdx.x; entry < 256; entry += blockDim.x) {
        int sum = 0;
        for (int table = 0; table < 16; ++table)
            sum += blockBins[entry][(table + threadIdx.x) % 16];
        if (sum != 0)
            atomicAdd(&bins[entry], sum);
    }
)"));
    EXPECT_TRUE(parseSubject(*text).file.diagnostics.empty()) << *text;
}

TEST(AtomicsPrivatization, HasOneTableWhereSixteenTakeTooMuchOrNoSubscriptNamesTheElement) {
    const auto options = [](const std::string& before, const std::string& after) {
        std::string text = binsOf("1 << 20");
        text.replace(text.find(before), before.size(), after);
        std::vector<int> all;
        const Subject subject = parseSubject(text);
        for (const Offer& offer : skillNamed(id).alternatives(subject.context()))
            all.push_back(offer.option);
        return all;
    };
    EXPECT_THAT(options("in[i]]", "in[i] * 2]"), ElementsAre(10000)) << "32 kB";
    EXPECT_THAT(options("in[i]]", "in[i] * 4]"), IsEmpty()) << "64 kB";
    EXPECT_THAT(options("&bins[in[i]]", "bins + in[i]"), IsEmpty());
}

TEST(AtomicsPrivatization, SaysWhatItSaves) {
    const Subject subject = parseSubject(readSource("skills/atomics-privatization/before.cu"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    ASSERT_TRUE(offer->gain);
    // 8 * 256 updates become 64 elements of 4 bytes in 8 sectors.
    EXPECT_DOUBLE_EQ(offer->gain->factor, 256.0) << offer->gain->basis;
}

/// Bins of `bytes` bytes, of m of them or of a constant number.
TEST(AtomicsPrivatization, LetsASearchPayForFewerTables) {
    const Skill& skill = skillNamed(id);
    const auto optionsOf = [&](const std::string& bytes) {
        const Subject subject = parseSubject(binsOf(bytes));
        std::vector<int> options;
        for (const Offer& offer : skill.alternatives(subject.context()))
            options.push_back(offer.option);
        return options;
    };
    EXPECT_THAT(optionsOf("m"), ElementsAre(64, 512, 10512));
    EXPECT_THAT(optionsOf("1 << 24"), ElementsAre(64, 10064))
        << "128 blocks are too few for an H200";
    EXPECT_THAT(optionsOf("1 << 20"), ElementsAre(10000));
    const Subject subject = parseSubject(binsOf("m"));
    const Offer offer = skill.alternatives(subject.context()).front();
    EXPECT_EQ(offer.title, "Update bins through a table in shared memory, 64 elements a thread");
    const auto edits = skill.apply(subject.context(), offer);
    ASSERT_TRUE(edits) << edits.error().describe();
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    ASSERT_TRUE(text) << text.error().describe();
    EXPECT_THAT(*text, HasSubstr("bin<<<((n + 255) / 256 + 63) / 64, 256>>>(in, bins, n);"));
}

TEST(AtomicsPrivatization, NamesTheLimitAsTheUserDoes) {
    const std::string text = appliedText(id, R"(
#define BINS 128
__global__ void bin(const int* in, float* bins, const float* w, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned b = in[i];
        if (b < BINS)
            atomicAdd(&bins[b], w[i]);
    }
}
void run(const int* in, float* bins, const float* w, int n) { bin<<<64, 256>>>(in, bins, w, n); }
)");
    EXPECT_TRUE(text.contains("__shared__ float blockBins[BINS];")) << text;
    EXPECT_TRUE(text.contains("atomicAdd(&blockBins[b], w[i]);")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(AtomicsPrivatization, CountsBothAxesOfABlock) {
    const std::string text = appliedText(id, R"(
__global__ void bin(const unsigned char* image, int* bins, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        atomicAdd(&bins[image[y * w + x]], 1);
}
void run(const unsigned char* image, int* bins, int w, int h) {
    bin<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(image, bins, w, h);
}
)");
    EXPECT_TRUE(text.contains("entry = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x"))
        << text;
    EXPECT_TRUE(text.contains("entry += blockDim.x * blockDim.y * blockDim.z")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(AtomicsPrivatization, IsExactForIntegers) {
    EXPECT_EQ(offeredNumerics(id, readSource("skills/atomics-privatization/before.cu")),
              Numerics::Exact);
}

/// `body` in a kernel with the usual index, launched with blocks of 64.
std::string kernelWith(const std::string& body, const std::string& block = "64") {
    return "__device__ int table[100];\n"
           "__global__ void k(const int* in, int* out, const unsigned char* bytes, int n, int m) "
           "{\n    int tid = threadIdx.x;\n    int i = blockIdx.x * blockDim.x + tid;\n" +
           body + "}\nvoid run(const int* in, int* out, const unsigned char* b, int n) { k<<<n, " +
           block + ">>>(in, out, b, n, n); }\n";
}

/// `body` in a kernel with the usual index, for an array that the host code makes of `length` ints.
std::string keysOf(const std::string& body, const std::string& length = "256") {
    return "__device__ int keep;\n"
           "__global__ void k(const int* keys, const long long* far, int* bins, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
           body +
           "}\nvoid run(const int* keys, const long long* far, int n) {\n    int* bins;\n"
           "    cudaMalloc(&bins, " +
           length + " * sizeof(int));\n    k<<<n, 256>>>(keys, far, bins, n);\n}\n";
}

TEST(AtomicsPrivatization, LeavesWhatMayLieOutsideOfTheTableToGlobalMemory) {
    checkApplicable(id, R"(
__global__ void count(const int* keys, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i]], 1);
}
void run(const int* keys, int n) {
    int* bins;
    cudaMalloc(&bins, 256 * sizeof(int));
    count<<<(n + 255) / 256, 256>>>(keys, bins, n);
}
)",
                    R"(
__global__ void count(const int* keys, int* bins, int n) {
    // Updates go to a table of the block, which is added to bins once.
    __shared__ int blockBins[256];
    for (int entry = threadIdx.x; entry < 256; entry += blockDim.x)
        blockBins[entry] = 0;
    __syncthreads();
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)blockDim.x * gridDim.x) {
        const int bin = keys[i];
        if (static_cast<unsigned>(bin) < 256u)
            atomicAdd(&blockBins[bin], 1);
        else
            atomicAdd(&bins[bin], 1);
    }
    __syncthreads();
    for (int entry = threadIdx.x; entry < 256; entry += blockDim.x)
        if (blockBins[entry] != 0)
            atomicAdd(&bins[entry], blockBins[entry]);
}
void run(const int* keys, int n) {
    int* bins;
    cudaMalloc(&bins, 256 * sizeof(int));
    count<<<((n + 255) / 256 + 7) / 8, 256>>>(keys, bins, n);
}
)");
}

/// A body for keysOf(), and what the edit makes of its update.
struct Guarded {
    std::string name;
    std::string body;
    std::string expected;
};

class AtomicsPrivatizationGuards : public testing::TestWithParam<Guarded> {};

TEST_P(AtomicsPrivatizationGuards, TheUpdate) {
    const std::string text = appliedText(id, keysOf(GetParam().body));
    EXPECT_THAT(text, HasSubstr(GetParam().expected));
    EXPECT_EQ(errorsOf(parseSubject(text).file), "");
}

INSTANTIATE_TEST_SUITE_P(
    Styles, AtomicsPrivatizationGuards,
    testing::Values(
        Guarded{"OfAVariable",
                "    for (; i < n; i += blockDim.x * gridDim.x) {\n"
                "        const int key = keys[i]; // any\n        atomicAdd(bins + key, 1);\n"
                "    }\n",
                "        const int key = keys[i]; // any\n"
                "        if (static_cast<unsigned>(key) < 256u)\n"
                "            atomicAdd(blockBins + key, 1);\n        else\n"
                "            atomicAdd(bins + key, 1);\n    }\n"},
        Guarded{"BehindAnEarlyReturn",
                "    if (i >= n)\n        return;\n    if (keys[i] != 7)\n"
                "        atomicAdd(&bins[keys[i] - 1], 1);\n    keep = i;\n",
                "        if (keys[i] != 7) {\n            const int bin = keys[i] - 1;\n"
                "            if (static_cast<unsigned>(bin) < 256u)\n"
                "                atomicAdd(&blockBins[bin], 1);\n            else\n"
                "                atomicAdd(&bins[bin], 1);\n        }\n        keep = i;\n"},
        Guarded{"OnTheLineOfItsCondition",
                "    if (i < n /* all */) atomicAdd(&bins[keys[i]], 1);\n    keep = i;\n",
                "    if (i < n /* all */) {\n        const int bin = keys[i];\n"
                "        if (static_cast<unsigned>(bin) < 256u)\n"
                "            atomicAdd(&blockBins[bin], 1);\n        else\n"
                "            atomicAdd(&bins[bin], 1);\n    }\n    keep = i;\n"},
        Guarded{"BehindAComment",
                "    if (i < n) // all\n        atomicAdd(&bins[keys[i]], 1);\n    keep = i;\n",
                "    if (i < n) { // all\n        const int bin = keys[i];\n"},
        Guarded{"OfAnUnsignedIndex",
                "    if (i < n) {\n        unsigned key = keys[i];\n        key ^= 1;\n"
                "        atomicAdd(&bins[key], 1);\n    }\n    keep = i;\n",
                "        if (key < 256u)\n            atomicAdd(&blockBins[key], 1);\n"},
        Guarded{"Of64Bits", "    if (i < n)\n        atomicAdd(&bins[far[i]], 1);\n    keep = i;\n",
                "        const long long bin = far[i];\n"
                "        if (static_cast<unsigned long long>(bin) < 256u)\n"},
        Guarded{"OfAVariableThatOthersMayChange",
                "    const int& key = keys[i];\n    atomicAdd(&bins[key], 1);\n",
                "    const int bin = key;\n    if (static_cast<unsigned>(bin) < 256u)\n"},
        Guarded{"OfTwoIndices",
                "    atomicAdd(&bins[keys[i]], 1);\n    atomicAdd(&bins[keys[i + n]], 1);\n",
                "    const int bin2 = keys[i + n];\n"
                "    if (static_cast<unsigned>(bin2) < 256u)\n"
                "        atomicAdd(&blockBins[bin2], 1);\n"},
        Guarded{"BelowALimit",
                "    const int key = keys[i];\n    if (key < 50)\n"
                "        atomicAdd(&bins[key], 1);\n",
                "    if (key < 50) {\n        if (static_cast<unsigned>(key) < 50u)\n"
                "            atomicAdd(&blockBins[key], 1);\n"}),
    [](const auto& info) { return info.param.name; });

TEST(AtomicsPrivatization, WritesOneBlockForTheIndicesOfElementAndTable) {
    const std::string text = appliedText(id, R"(
__global__ void count(const int* keys, int* bins, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i]], 1);
}
void run(const int* keys, unsigned n) {
    int* bins;
    cudaMalloc(&bins, 256 * sizeof(int));
    count<<<(n + 255) / 256, 256>>>(keys, bins, n);
}
)");
    EXPECT_THAT(text, HasSubstr("* gridDim.x) {\n"
                                "        const unsigned int i = static_cast<unsigned int>(index);\n"
                                "        const int bin = keys[i];\n"
                                "        if (static_cast<unsigned>(bin) < 256u)\n"
                                "            atomicAdd(&blockBins[bin], 1);\n        else\n"
                                "            atomicAdd(&bins[bin], 1);\n    }\n"
                                "    __syncthreads();\n"));
    EXPECT_EQ(errorsOf(parseSubject(text).file), "");
}

TEST(AtomicsPrivatization, LeavesIndicesInBoundsUnguarded) {
    const std::string text = appliedText(id, keysOf("    atomicAdd(&bins[keys[i] & 63], 1);\n"
                                                    "    atomicAdd(&bins[keys[i]], 1);\n"));
    EXPECT_THAT(text, HasSubstr("    atomicAdd(&blockBins[keys[i] & 63], 1);\n"
                                "    const int bin = keys[i];\n"));
    EXPECT_THAT(text, HasSubstr("int blockBins[256];"));
}

TEST(AtomicsPrivatization, GuardsTablesOfLanesToo) {
    const Subject subject = parseSubject(keysOf("    atomicAdd(&bins[keys[i]], 1);\n"));
    const Skill& skill = skillNamed(id);
    const std::vector<Offer> options = skill.alternatives(subject.context());
    ASSERT_FALSE(options.empty());
    const auto edits = skill.apply(subject.context(), options.back());
    ASSERT_TRUE(edits) << edits.error().describe();
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    ASSERT_TRUE(text) << text.error().describe();
    EXPECT_THAT(*text, HasSubstr("        atomicAdd(&blockBins[bin][threadIdx.x % 16], 1);\n"
                                 "    else\n        atomicAdd(&bins[bin], 1);\n"));
    EXPECT_EQ(errorsOf(parseSubject(*text).file), "");
}

TEST(AtomicsPrivatization, TakesTheLargestLengthThatFitsOfSeveralLaunches) {
    const auto tableOf = [](const std::string& first, const std::string& second) {
        return appliedText(id, "__global__ void k(const int* keys, int* bins) {\n"
                               "    atomicAdd(&bins[keys[blockIdx.x * blockDim.x + threadIdx.x]], "
                               "1);\n}\nvoid run(const int* keys, int* a, int* b, int n) {\n"
                               "    cudaMemset(a, 0, " +
                                   first + " * sizeof(int));\n    cudaMemset(b, 0, " + second +
                                   " * sizeof(int));\n    k<<<n, 256>>>(keys, a);\n"
                                   "    k<<<n, 256>>>(keys, b);\n}\n");
    };
    EXPECT_THAT(tableOf("64", "128"), HasSubstr("int blockBins[128];"));
    EXPECT_THAT(tableOf("128", "64"), HasSubstr("int blockBins[128];"));
    EXPECT_THAT(tableOf("64", "20000"), HasSubstr("int blockBins[64];"));
    EXPECT_THAT(tableOf("20000", "64"), HasSubstr("int blockBins[64];"));
    EXPECT_THAT(tableOf("n", "64"), HasSubstr("int blockBins[64];"));
}

class AtomicsPrivatizationIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(AtomicsPrivatizationIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, AtomicsPrivatizationIsNotOffered,
    testing::Values(
        GateCase{"NoAtomic", "no-atomic", kernelWith("    out[i] = in[i];\n")},
        GateCase{"ResultUsed", "result-used",
                 kernelWith("    int slot = atomicAdd(out, 1);\n    table[slot] = i;\n")},
        GateCase{"SharedTable", "not-global",
                 kernelWith("    __shared__ int bins[256];\n    atomicAdd(&bins[bytes[i]], 1);\n")},
        GateCase{"Exchange", "no-reduction", kernelWith("    atomicExch(out, in[i]);\n")},
        GateCase{"Mixed", "mixed-operations",
                 kernelWith("    atomicAdd(out, in[i]);\n    atomicMax(out, in[i]);\n")},
        GateCase{"OneThread", "one-thread-updates",
                 kernelWith("    if (tid == 0)\n        atomicAdd(out, in[blockIdx.x]);\n")},
        GateCase{"FirstLane", "one-thread-updates",
                 kernelWith("    if (i < n && !(tid & 31))\n        atomicAdd(out, in[i]);\n")},
        GateCase{"ReadElsewhere", "used-beside",
                 kernelWith("    if (out[0] < m)\n        atomicAdd(out, in[i]);\n")},
        GateCase{"Fence", "orders-memory",
                 kernelWith("    atomicAdd(out, in[i]);\n    __threadfence();\n")},
        GateCase{"ElementEach", "lanes-apart", kernelWith("    atomicAdd(&out[tid], in[i]);\n")},
        GateCase{
            "UnknownSize", "unknown-table-size",
            kernelWith("    if (in[i] >= 0)\n        atomicAdd(&out[abs(in[i]) & 0xfffff], 1);\n")},
        GateCase{"AnySizeOf64Bits", "unknown-table-size",
                 kernelWith("    atomicAdd(&out[(unsigned long long)in[i]], 1);\n")},
        GateCase{
            "LimitTooLarge", "table-too-large",
            kernelWith("    unsigned b = in[i];\n    if (b < 20000)\n        atomicAdd(&out[b], "
                       "1);\n")},
        GateCase{
            "MayBeNegative", "index-may-be-negative",
            kernelWith("    int b = in[i];\n    if (b < m)\n        atomicAdd(&out[b], 1);\n")},
        GateCase{"LengthNotKnown", "index-may-be-negative",
                 keysOf("    atomicAdd(&bins[keys[i]], 1);\n", "n")},
        GateCase{"LengthTooLarge", "table-too-large",
                 keysOf("    atomicAdd(&bins[keys[i]], 1);\n", "12289")},
        GateCase{"LengthLargerThanWork", "table-larger-than-work",
                 keysOf("    atomicAdd(&bins[keys[i]], 1);\n", "4096")},
        GateCase{"IndexFromMacro", "index-may-be-negative",
                 "#define KEY(i) keys[i]\n" + keysOf("    atomicAdd(&bins[KEY(i)], 1);\n")},
        GateCase{"NoPlaceForTwoBranches", "index-may-be-negative",
                 keysOf("    if (i < n)\n        atomicAdd(&bins[keys[i]], 1);\n    else\n"
                        "        keep = i;\n")},
        GateCase{
            "LimitNotKnown", "unknown-table-size",
            kernelWith("    int b = in[i];\n    if (b >= 0 && b < m)\n        atomicAdd(&out[b], "
                       "1);\n")},
        GateCase{"OneAddress", "one-address", kernelWith("    atomicAdd(out, in[i]);\n")},
        GateCase{"AddressOfTheBlock", "one-address",
                 kernelWith("    atomicMax(&out[blockIdx.x], in[i]);\n")},
        GateCase{"ExitInLoop", "early-exit",
                 kernelWith("    for (int k = 0; k < m; ++k) {\n        if (in[k])\n            "
                            "return;\n        atomicAdd(out, 1);\n    }\n")},
        GateCase{"MaximumPerClass", "table-not-a-sum",
                 kernelWith("    atomicMax(&out[bytes[i]], in[i]);\n")},
        GateCase{"TableLargerThanWork", "table-larger-than-work",
                 kernelWith("    atomicAdd(&out[bytes[i] * 8], 1);\n")},
        GateCase{"OtherPointer", "used-beside",
                 kernelWith("    if (i < n) {\n        int* place = out;\n        atomicAdd(place, "
                            "in[i]);\n    }\n")},
        GateCase{"OneLine", "several-statements-a-line",
                 kernelWith("    if (i < n) atomicAdd(out, 1); table[0] = 0;\n")},
        GateCase{"Macro", "from-macro",
                 "#define ADD(p, v) atomicAdd(p, v)\n" + kernelWith("    ADD(out, in[i]);\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
