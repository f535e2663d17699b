/// Reviews of kernels whose results show nothing on the usual inputs.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A root is NaN where the kinetic energy exceeds the total energy. On random states that holds for
/// one of the neighbours of nearly every thread.
const std::string flow = R"(
__global__ void speeds(const int* neighbours, const float* state, float* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < 8; ++j) {
        int k = neighbours[j * n + i];
        if (k < 0) k = i;
        float mx = state[n + k], my = state[2 * n + k], mz = state[3 * n + k];
        float pressure = 0.4f * (state[4 * n + k] - 0.5f * (mx * mx + my * my + mz * mz) / state[k]);
        sum += sqrtf(1.4f * pressure / state[k]) * (j + 1);
    }
    out[i] = sum;
}
int main()
{
    int n = 1024, *neighbours; float *state, *out;
    cudaMalloc(&neighbours, n * 32); cudaMalloc(&state, n * 20); cudaMalloc(&out, n * 4);
    speeds<<<n / 128, 128>>>(neighbours, state, out, n);
}
)";

/// With two steps no thread has work to do.
const std::string margins = R"(
__global__ void inner(const float* in, float* out, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = threadIdx.x >= 40 * steps && threadIdx.x < 128 - 40 * steps ? sqrtf(in[i]) : 0.0f;
}
void run(const float* in, float* out, int n) { inner<<<(n + 127) / 128, 128>>>(in, out, 2, n); }
)";

class TellingRuns : public kernelskill::testing::ReviewFixture {
protected:
    static std::string control(const Verdict& verdict) {
        const auto found = std::ranges::find(verdict.checks, "control fails", &Check::name);
        return found == verdict.checks.end() ? "" : found->detail;
    }
};

TEST_F(TellingRuns, AreFoundByMixingTheKindsOfValues) {
    const Verdict verdict = review(flow, "mx * mx + my * my + mz * mz",
                                   "mz * mz + my * my + mx * mx", skills::Numerics::Reassociates);
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(control(verdict), HasSubstr("values mixed to show something"));
}

TEST_F(TellingRuns, ShowWhatIsWrong) {
    const Verdict verdict = review(flow, "k < 0) k = i", "k < 0) k = n - 1 - i");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("values mixed to show something"));
}

TEST_F(TellingRuns, AreOfTheInstanceThatWasBuiltLast) {
    const std::string roots = R"(
template <typename T>
__global__ void roots(const T* in, T* out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T sum = 0;
    for (int j = 0; j < 64; ++j)
        sum += sqrt(in[(i + j) % n]);
    out[i] = sum;
}
void run(const float* f, float* g, const double* d, double* e)
{
    roots<<<8, 128>>>(f, g, 1024);
    roots<<<8, 128>>>(d, e, 1024);
}
)";
    const Verdict verdict =
        review(roots, "sum += sqrt(in[(i + j) % n])", "sum += sqrt(in[(i + 63 - j) % n])",
               skills::Numerics::Reassociates);
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(control(verdict), HasSubstr("values mixed to show something"));
}

TEST_F(TellingRuns, MayBeProbes) {
    const Verdict verdict =
        review(margins, "sqrtf(in[i])", "__fsqrt_rn(in[i])", skills::Numerics::ReducedPrecision);
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(control(verdict), AllOf(HasSubstr("steps="), Not(HasSubstr("values mixed"))));
}

} // namespace
} // namespace kernelskill::engine
