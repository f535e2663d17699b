/// What is found of the order of threads for all sizes, through the Reviewer.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

class OrderStepTest : public kernelskill::testing::ReviewFixture {
protected:
    /// The detail of the check by which threads are ordered; empty if there is none.
    static std::string orderIn(const Verdict& verdict) {
        const auto check =
            std::ranges::find(verdict.checks, "threads are ordered for all sizes", &Check::name);
        return check == verdict.checks.end() ? "" : check->detail;
    }
};

const std::string mirrored = R"(
__global__ void mirrored(float* out, const float* in) {
    __shared__ float tile[128];
    __shared__ float sums[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    sums[threadIdx.x] = tile[127 - threadIdx.x];
    __syncthreads();
    out[i] = sums[threadIdx.x] + tile[threadIdx.x];
}
void launch(float* out, const float* in) { mirrored<<<4, 128>>>(out, in); }
)";

TEST_F(OrderStepTest, ShowsThatABarrierIsNotNeeded) {
    const Verdict verdict = review(mirrored, "    __syncthreads();\n    out[i]", "    out[i]");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(orderIn(verdict), HasSubstr("no two threads race, for all sizes"));
    EXPECT_THAT(orderIn(verdict), HasSubstr("without 1 of 2 '__syncthreads'"));
    EXPECT_THAT(verdict.summary, HasSubstr("No two threads race, for all sizes"));
}

TEST_F(OrderStepTest, RefusesToRemoveABarrierThatIsNeeded) {
    const Verdict verdict = review(mirrored, "    __syncthreads();\n    sums", "    sums");
    EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(orderIn(verdict), HasSubstr("two threads of one block touch one byte"));
    EXPECT_THAT(orderIn(verdict), HasSubstr("no two threads of the original do"));
}

TEST_F(OrderStepTest, RefusesAMeetingThatNoRunReaches) {
    // Two threads touch one element only from column 776 on, which the file's launch does not have.
    const std::string rows = R"(
__global__ void rows(float* out, const float* in, int columns) {
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        out[c] = in[c] + 1.0f;
}
void launch(float* out, const float* in) { rows<<<1, 32>>>(out, in, 40); }
)";
    const Verdict verdict = review(rows, "out[c] = in[c]", "out[c < 777 ? c : c - 1] = in[c]");
    EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(orderIn(verdict), HasSubstr("on line 4"));
}

TEST_F(OrderStepTest, IsAsStrictAsBeforeWhereMemoryDecides) {
    const std::string picked = R"(
__global__ void picked(float* out, const float* in, const int* where) {
    __shared__ float tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[where[threadIdx.x] & 127];
}
void launch(float* out, const float* in, const int* where) {
    picked<<<1, 128>>>(out, in, where);
}
)";
    const Verdict verdict = review(picked, "    __syncthreads();\n", "");
    EXPECT_FALSE(isAccepted(verdict)) << report(verdict);
    // What is read decides, so that no meeting is shown; the runs refuse the edit.
    EXPECT_EQ(orderIn(verdict), "") << report(verdict);
    const Verdict kept = review(picked, "tile[threadIdx.x] = in[threadIdx.x]",
                                "const float x = in[threadIdx.x]; tile[threadIdx.x] = x * 1.0f");
    EXPECT_TRUE(isAccepted(kept)) << report(kept);
    EXPECT_THAT(kept.summary, HasSubstr("No two threads race, for all sizes"));
}

} // namespace
} // namespace kernelskill::engine
