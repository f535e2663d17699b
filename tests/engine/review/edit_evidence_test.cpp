/// Edits that agree in all runs, but of which these show too little, and the inputs that show more.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

class EditEvidenceTest : public kernelskill::testing::ReviewFixture {};

std::string scatter(const std::string& index) {
    return "__global__ void scatter(const int* index, int* out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n)\n"
           "        atomicAdd(&out[index[i]], 1);\n"
           "}\n"
           "// kernelskill: launch scatter<<<4, 64>>>(index=" +
           index + ", out=zero[1000000], n=256)\n";
}

TEST_F(EditEvidenceTest, RefusesToLoseAnAtomicWhereNoThreadsMet) {
    const Verdict verdict =
        review(scatter("iota[256]"), "atomicAdd(&out[index[i]], 1)", "out[index[i]] += 1");
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
    EXPECT_TRUE(verdict.isAboutEdit) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("the edit removes 'atomicAdd' on 'out', but no two "
                                           "threads updated one element of it"));
}

TEST_F(EditEvidenceTest, RefusesToNarrowAnAtomicWhereNoBlocksMet) {
    const Verdict verdict = review(scatter("iota[256]"), "atomicAdd(", "atomicAdd_block(");
    EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("narrows 'atomicAdd' on 'out', but no two blocks"));
}

TEST_F(EditEvidenceTest, MakesIndicesCollide) {
    for (const auto& [from, to] : {std::pair{"atomicAdd(&out[index[i]], 1)", "out[index[i]] += 1"},
                                   std::pair{"atomicAdd(", "atomicAdd_block("}}) {
        const Verdict verdict = review(scatter("rand[256, 0..1000000]"), from, to);
        EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    }
}

std::string twice(const std::string& host) {
    return "__global__ void twice(const float* x, float* y, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) {\n"
           "        y[i] = 2 * x[i];\n"
           "        y[i] += x[i];\n"
           "    }\n"
           "}\n"
           "void run(float* a, float* b, int n) { twice<<<(n + 127) / 128, 128>>>(" +
           host + ", n); }\n";
}
constexpr const char* body = "y[i] = 2 * x[i];\n        y[i] += x[i];";
constexpr const char* cachedBody = "float v = x[i];\n        y[i] = 2 * v + v;";

TEST_F(EditEvidenceTest, PassesOneBufferForAnInputAndAnOutput) {
    const Verdict wrong = review(twice("a, a"), body, cachedBody);
    EXPECT_EQ(wrong.status, VerdictStatus::Incorrect) << report(wrong);
    EXPECT_THAT(wrong.summary, HasSubstr("'x' and 'y' equal"));
    const Verdict right = review(twice("a, a"), "int i =", "const int i =");
    EXPECT_TRUE(isAccepted(right)) << report(right);
}

TEST_F(EditEvidenceTest, LeavesDifferentBuffersApart) {
    const Verdict verdict = review(twice("a, b"), body, cachedBody);
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
}

TEST_F(EditEvidenceTest, SaysThatARestrictedEditNeedsDifferentBuffers) {
    std::string text = twice("a, a");
    const Verdict verdict = review(text, "const float* x, float* y",
                                   "const float* __restrict__ x, float* __restrict__ y");
    EXPECT_THAT(report(verdict), HasSubstr("do not overlap"));
}

constexpr const char* timed = R"(
__global__ void timed(const float* x, float* y, long long* times, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long begin = clock64();
    if (i < n)
        y[i] = 2 * x[i];
    long long end = clock64();
    if (i < n)
        times[i] = end - begin;
}
void run(const float* x, float* y, long long* times, int n) {
    timed<<<(n + 127) / 128, 128>>>(x, y, times, n);
}
)";

TEST_F(EditEvidenceTest, DoesNotJudgeWhatFollowsFromAClock) {
    for (const auto& [from, to] :
         {std::pair{"end - begin", "(end - begin) * (end - end + 1)"},
          std::pair{"long long begin = clock64();", "long long begin = clock64() | 0;"}}) {
        const Verdict verdict = review(timed, from, to);
        EXPECT_EQ(verdict.status, VerdictStatus::Invalid) << report(verdict);
        EXPECT_THAT(verdict.summary, HasSubstr("computes with the value of a clock"));
    }
}

TEST_F(EditEvidenceTest, SaysThatAClockIsRead) {
    const Verdict verdict = review(timed, "2 * x[i]", "x[i] * 2");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(report(verdict), HasSubstr("the kernel reads a clock"));
}

} // namespace
} // namespace kernelskill::engine
