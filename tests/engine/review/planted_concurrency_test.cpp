/// Edits that lose the order of threads are refused, although the emulator would compute the right
/// result; edits that do without synchronisation rightly are accepted.
#include "engine/review/reviewer.h"
#include "engine/review/synchronisation_change.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;
using ::testing::HasSubstr;

class PlantedConcurrencyTest : public kernelskill::testing::EmulatorFixture {
protected:
    [[nodiscard]] Verdict review(const std::string& text, std::string_view from,
                                 std::string_view to,
                                 skills::Numerics numerics = skills::Numerics::Exact) const {
        ProgramSource source = program(text);
        const auto begin = static_cast<std::uint32_t>(text.find(from));
        EXPECT_NE(begin, static_cast<std::uint32_t>(std::string::npos)) << from;
        const analysis::EditSet edits{
            {source.file,
             {{{begin, begin + static_cast<std::uint32_t>(from.size())}, std::string(to)}}}};
        const Reviewer reviewer(executor_.get(), bench_.toolchain);
        auto verdict = reviewer.review({source, source.model->kernels.at(0)}, edits, numerics, {},
                                       {}, {.seed = testSeed()});
        EXPECT_TRUE(verdict) << verdict.error().describe();
        return verdict ? std::move(*verdict) : Verdict{};
    }

    static std::string report(const Verdict& verdict) {
        std::string text = verdict.summary;
        for (const Check& check : verdict.checks)
            text += "\n  " + std::string(check.passed ? "passed " : "FAILED ") + check.name + ": " +
                    check.detail;
        return text;
    }
    static bool isAccepted(const Verdict& verdict) {
        return verdict.status == VerdictStatus::Unmeasured;
    }
};

struct Planted {
    std::string file;
    std::string from;
    std::string to;
};

TEST_F(PlantedConcurrencyTest, RefusesEditsOfTheExamples) {
    const std::vector<Planted> edits = {
        {"examples/naive/histogram.cu", "atomicAdd(&bins[in[i]], 1u);", "bins[in[i]] += 1u;"},
        {"examples/naive/histogram.cu", "atomicAdd(", "atomicAdd_block("},
        {"examples/naive/histogram.cu", "atomicAdd(&bins[in[i]], 1u);",
         "atomicExch(&bins[in[i]], bins[in[i]] + 1u);"},
        {"examples/reduce.cu", "        __syncthreads();\n    }", "    }"},
        {"examples/transpose.cu", "    __syncthreads();\n", ""},
        {"examples/transpose.cu", "__syncthreads();", "__syncwarp();"},
    };
    for (const Planted& edit : edits) {
        const Verdict verdict = review(sourceFile(edit.file), edit.from, edit.to);
        EXPECT_FALSE(isAccepted(verdict)) << edit.file << ": " << edit.to << "\n"
                                          << report(verdict);
        EXPECT_TRUE(verdict.isAboutEdit) << report(verdict);
    }
}

TEST_F(PlantedConcurrencyTest, NamesWhatWasRemovedAndBothAccesses) {
    const Verdict verdict = review(sourceFile("examples/naive/histogram.cu"),
                                   "atomicAdd(&bins[in[i]], 1u);", "bins[in[i]] += 1u;");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("the edit removes 1 of 1 'atomicAdd'"));
    EXPECT_THAT(verdict.summary, HasSubstr("of 'bins'"));
}

constexpr const char* warpSums = R"(
__global__ void sums(const float* in, float* out, int n) {
    __shared__ float partial[256];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    float sum = i < n ? in[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    partial[t] = sum;
    __syncwarp();
    if (t % 32 == 1)
        out[i / 32] = partial[t - 1];
}
void run(const float* in, float* out, int n) { sums<<<(n + 255) / 256, 256>>>(in, out, n); }
)";

TEST_F(PlantedConcurrencyTest, RefusesAWarpWithoutItsBarrierOrWithAnotherMask) {
    for (const Planted& edit : {Planted{"", "    __syncwarp();\n", ""},
                                Planted{"", "__syncwarp()", "__syncwarp(1u << (t % 32))"},
                                Planted{"", "0xffffffff, sum", "0x0000ffff, sum"}}) {
        const Verdict verdict = review(warpSums, edit.from, edit.to);
        EXPECT_FALSE(isAccepted(verdict)) << edit.to << "\n" << report(verdict);
    }
    const Verdict right = review(warpSums, "int step = 16", "unsigned step = 16");
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

constexpr const char* lastBlock = R"(
__device__ unsigned int retired = 0;
__global__ void total(const int* in, int* partial, int* out, int n) {
    __shared__ int sum;
    __shared__ bool isLast;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        isLast = atomicAdd(&retired, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        int all = 0;
        for (int block = 0; block < gridDim.x; ++block)
            all += partial[block];
        *out = all;
    }
}
// kernelskill: launch total<<<8, 128>>>(in=rand[1000, 0..100], partial=zero[8], out=zero[1], n=1000)
)";

TEST_F(PlantedConcurrencyTest, RefusesToDoWithoutAnyPartOfTheLastBlocksOrder) {
    for (const Planted& edit :
         {Planted{"", "        __threadfence();\n", ""},
          Planted{"", "__threadfence()", "__threadfence_block()"},
          Planted{"", "atomicAdd(&sum, in[i])", "sum += in[i]"},
          Planted{"", "atomicAdd(&retired, 1)", "atomicAdd_block(&retired, 1)"},
          Planted{"", "atomicAdd(&retired, 1)", "retired++"},
          Planted{"", "isLast = atomicAdd(&retired, 1) == gridDim.x - 1",
                  "isLast = blockIdx.x == gridDim.x - 1"},
          Planted{"", "        sum = 0;\n    __syncthreads();\n", "        sum = 0;\n"}}) {
        const Verdict verdict = review(lastBlock, edit.from, edit.to);
        EXPECT_FALSE(isAccepted(verdict)) << edit.from << " -> " << edit.to << "\n"
                                          << report(verdict);
    }
}

TEST_F(PlantedConcurrencyTest, AcceptsBarriersAndAtomicsThatAreNotNeeded) {
    const Verdict barrier = review(R"(
__global__ void scale(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = 2 * value;
}
void run(const float* in, float* out, int n) { scale<<<(n + 127) / 128, 128>>>(in, out, n); }
)",
                                   "    __syncthreads();\n", "");
    EXPECT_TRUE(isAccepted(barrier)) << report(barrier);
    EXPECT_THAT(report(barrier), HasSubstr("no two threads race: shown for all inputs and sizes"));
    EXPECT_THAT(report(barrier), ::testing::Not(HasSubstr("in other orders of threads")));
    const Verdict atomic = review(R"(
__global__ void add(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[i], in[i]);
}
void run(const int* in, int* out, int n) { add<<<(n + 127) / 128, 128>>>(in, out, n); }
)",
                                  "atomicAdd(&out[i], in[i])", "out[i] += in[i]");
    EXPECT_TRUE(isAccepted(atomic)) << report(atomic);
    EXPECT_THAT(report(atomic), HasSubstr("no unordered accesses were seen"));
}

TEST_F(PlantedConcurrencyTest, RefusesReadingWhatAnotherBlockWrites) {
    const Verdict verdict = review(R"(
__global__ void copy(const float* in, float* out, float* next, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = 2 * in[i];
        next[i] = 2 * in[i == 0 ? 0 : i - 1];
    }
}
void run(const float* in, float* out, float* next, int n) {
    copy<<<(n + 127) / 128, 128>>>(in, out, next, n);
}
)",
                                   "2 * in[i == 0 ? 0 : i - 1]", "out[i == 0 ? 0 : i - 1]");
    EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
}

TEST_F(PlantedConcurrencyTest, KeepsEditsOfKernelsThatScatterByGuessedIndices) {
    const Verdict verdict = review(R"(
__global__ void scatter(const int* index, const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i]] += in[i];
}
)",
                                   "const float* in", "const float* __restrict__ in");
    EXPECT_TRUE(isAccepted(verdict) || !verdict.isAboutEdit) << report(verdict);
}

TEST(SynchronisationChange, KnowsWhetherThereIsMoreThanBarriers) {
    EXPECT_FALSE(usesMoreThanBarriers("__syncthreads(); __syncwarp(); x = 1;"));
    EXPECT_TRUE(usesMoreThanBarriers("atomicAdd(&x, 1);"));
    EXPECT_TRUE(usesMoreThanBarriers("__threadfence();"));
}

TEST(SynchronisationChange, CountsByNameAndInAssembly) {
    const auto removed = lessSynchronisation(
        "atomicAdd(&a, 1); atomicAdd(&b, 1); __syncthreads(); volatile int* f;",
        "atomicAdd(&a, 1); atomicAdd_block(&b, 1); int* f; // __syncthreads();");
    ASSERT_EQ(removed.size(), 3u);
    EXPECT_EQ(describe(removed),
              "1 of 1 '__syncthreads', 1 of 2 'atomicAdd' and 1 of 1 'volatile'");
    EXPECT_TRUE(lessSynchronisation("asm(\"membar.gl;\");", "asm(\"membar.gl;\");").empty());
    EXPECT_EQ(describe(lessSynchronisation("asm volatile(\"membar.gl;\");", "asm volatile(\"\");")),
              "1 of 1 'membar'");
}

} // namespace
} // namespace kernelskill::engine
