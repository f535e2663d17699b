// Reviews of kernels whose own launches take the emulator long.
#include "tests/engine/review/review_fixture.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <string_view>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::replaced;
using kernelskill::testing::ReviewFixture;
using ::testing::HasSubstr;

using ReviewSizeTest = ReviewFixture;

/// A product of matrices whose size is a constant: 17 10^9 accesses.
constexpr const char* product = R"(#define N 2048
__global__ void product(const float* a, const float* b, float* c, float* row) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N) {
        float sum = 0.0f;
        for (int k = 0; k < N; ++k)
            sum += a[i * N + k] * b[k * N + j];
        c[i * N + j] = sum;
        if (i == 90 && j == 100)
            *row = 2 * sum;
    }
}
int main() {
    float *a, *b, *c, *row;
    cudaMalloc(&a, N * N * sizeof(float));
    cudaMalloc(&b, N * N * sizeof(float));
    cudaMalloc(&c, N * N * sizeof(float));
    cudaMalloc(&row, sizeof(float));
    product<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(a, b, c, row);
}
)";

TEST_F(ReviewSizeTest, AProgramWithSmallerConstantsIsReviewedInstead) {
    const auto begin = std::chrono::steady_clock::now();
    const Verdict verdict = review(product, "2 * sum", "sum + sum");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("With N=128: "));
    EXPECT_THAT(verdict.summary, HasSubstr("own size it was not emulated"));
    // A run at its own size is cut off after 10 seconds of processor time.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(ReviewSizeTest, AnEditThatIsWrongThereIsWrong) {
    const Verdict verdict = review(product, "2 * sum", "3 * sum");
    EXPECT_EQ(verdict.status, VerdictStatus::Incorrect) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("with N=128"));
    EXPECT_TRUE(verdict.isAboutEdit);
    EXPECT_NE(verdict.failure, nullptr);
}

/// The same sum for sizes that the launch states: it is made smaller by them.
constexpr const char* interactions = R"(
__global__ void forces(const float* x, float* f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int j = 0; j < n; ++j)
        sum += x[j] - x[i];
    f[i] = sum;
}
void run(int n) {
    float *x, *f;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&f, n * sizeof(float));
    forces<<<(n + 255) / 256, 256>>>(x, f, n);
}
int main() {
    run(40000);
}
)";

TEST_F(ReviewSizeTest, ALaunchThatFollowsASizeGetsFewerThreads) {
    const Verdict verdict = review(interactions, "i >= n", "n <= i");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("Matches the original"));
}

/// Maxima of 262,144 rows of 64.
constexpr const char* rowMaxima = R"(
__global__ void maxima(const float* in, float* out, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float largest = in[row * 64];
    for (int column = 1; column < 64; ++column)
        largest = fmaxf(largest, in[row * 64 + column]);
    out[row] = largest;
}
void run(int rows) {
    float *in, *out;
    cudaMalloc(&in, rows * 64 * sizeof(float));
    cudaMalloc(&out, rows * sizeof(float));
    maxima<<<(rows + 127) / 128, 128>>>(in, out, rows);
}
int main() {
    run(1 << 18);
}
)";

/// From the row's number to the launch, for a warp a row.
constexpr const char* maximaOfWarps = R"(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float largest = fmaxf(in[row * 64 + lane], in[row * 64 + lane + 32]);
    for (int offset = 16; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    if (lane == 0)
        out[row] = largest;
}
void run(int rows) {
    float *in, *out;
    cudaMalloc(&in, rows * 64 * sizeof(float));
    cudaMalloc(&out, rows * sizeof(float));
    maxima<<<(rows + 3) / 4, 128>>>(in, out, rows);
}
)";

/// The candidate has 32 times the threads of the original, all of which wait for each other.
TEST_F(ReviewSizeTest, ManyThreadsThatWaitMakeARunSmaller) {
    const std::string text = rowMaxima;
    const auto begin = text.find("blockIdx");
    const auto end = text.find("int main");
    const Verdict verdict = review(text, text.substr(begin, end - begin), maximaOfWarps);
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    const std::string said = report(verdict);
    const std::string_view size = "matches original, seed 1, rows=";
    const auto at = said.find(size);
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_LT(std::stoi(said.substr(at + size.size())), 1 << 16);
}

/// The text does not tell the number of steps, and the guessed one takes too long.
TEST_F(ReviewSizeTest, AGuessedNumberOfRoundsIsMadeSmaller) {
    const Verdict verdict = review(R"(
__global__ void relax(const float* in, float* out, int n, int xmax)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    for (int s = 0; s < xmax + 1; ++s)
        for (int k = 0; k < 4096; ++k)
            x = 0.5f * x + in[(i + k) & 255];
    out[i] = x;
}
void run(const float* in, float* out, int xmax) { relax<<<2, 128>>>(in, out, 256, xmax); }
)",
                                   "out[i] = x", "*(out + i) = x");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("with more rounds the kernel takes too long here"));
}

/// Fewer rounds alone would leave the rows as long as they are, so that no round has a whole tile.
TEST_F(ReviewSizeTest, SmallerConstantsComeBeforeFewerRounds) {
    std::string text = replaced(product, "float* c, float* row", "float* c, float* row, int n");
    text = replaced(text, "for (int k = 0; k < N; ++k)", "for (int k = 0; k < n; ++k)");
    text = replaced(text, ">>>(a, b, c, row);", ">>>(a, b, c, row, N);");
    const Verdict verdict = review(text, "2 * sum", "sum + sum");
    EXPECT_TRUE(isAccepted(verdict)) << report(verdict);
    EXPECT_THAT(verdict.summary, HasSubstr("With N=128: "));
}

} // namespace
} // namespace kernelskill::engine
