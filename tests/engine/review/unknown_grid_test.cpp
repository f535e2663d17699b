// Reviews of kernels whose grid the text does not tell, so that it is guessed.
#include "tests/engine/review/review_fixture.h"

namespace kernelskill::engine {
namespace {

using UnknownGridTest = kernelskill::testing::ReviewFixture;

/// Sums of rows, by `blocks` blocks of which the text does not tell how many they are.
constexpr const char* sums = R"(
__global__ void sums(const int* in, int* out, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int sum = 0;
    for (int column = 0; column < 96; ++column)
        sum += in[row * 96 + column];
    out[row] = sum;
}
int blocksFor(int rows);
void run(const int* in, int* out, int rows) {
    const int blocks = blocksFor(rows);
    sums<<<blocks, 128>>>(in, out, rows);
}
)";

/// From the row's number to the launch, for a warp a row.
std::string sumsOfWarps(const std::string& grid) {
    return R"(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    int sum = 0;
    for (int column = lane; column < 96; column += 32)
        sum += in[row * 96 + column];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (lane == 0)
        out[row] = sum;
}
int blocksFor(int rows);
void run(const int* in, int* out, int rows) {
    const int blocks = blocksFor(rows);
    sums<<<)" +
           grid +
           R"(, 128>>>(in, out, rows);
}
)";
}

TEST_F(UnknownGridTest, FollowsWhatTheEditMakesOfIt) {
    const std::string text = sums;
    const std::string from = text.substr(text.find("blockIdx"));
    const Verdict right = review(text, from, sumsOfWarps("blocks * 32"));
    EXPECT_TRUE(isAccepted(right)) << report(right);
    const Verdict tooFew = review(text, from, sumsOfWarps("blocks * 16"));
    EXPECT_FALSE(isAccepted(tooFew)) << report(tooFew);
}

} // namespace
} // namespace kernelskill::engine
