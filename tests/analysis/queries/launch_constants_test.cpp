#include "analysis/queries/launch_constants.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace kernelskill::analysis {
namespace {

/// Host code that launches `k<<<1, block>>>()`, and what the text tells of the block.
struct Case {
    std::string host;
    std::vector<std::int64_t> block;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.host;
    }
};

class ConstantBlock : public ::testing::TestWithParam<Case> {};

TEST_P(ConstantBlock, IsRead) {
    const FileModel model = testing::analyze("#define THREADS 96\n"
                                             "__global__ void k() {}\n"
                                             "void use(dim3&);\n"
                                             "void run(int n, cudaDeviceProp* device) {\n" +
                                             GetParam().host + "\n}\n");
    ASSERT_FALSE(model.hostFunctions.empty());
    EXPECT_EQ(model.kernels.at(0).launches.at(0).constantBlock, GetParam().block);
}

INSTANTIATE_TEST_SUITE_P(
    LaunchConstants, ConstantBlock,
    ::testing::Values(
        Case{"dim3 block(32, n);\nk<<<1, block>>>();", {32, 0, 1}},
        Case{"int side; side = 8;\ndim3 block(side, side);\nk<<<1, block>>>();", {8, 8, 1}},
        Case{"dim3 block;\nblock.x = THREADS;\nblock.y = 2;\nk<<<1, block>>>();", {96, 2, 1}},
        Case{"dim3 block(16, 16);\nblock.y = 4;\nk<<<1, block>>>();", {16, 4, 1}},
        Case{"dim3 block;\nblock.x = THREADS;\nint blocks = n / block.x;\nk<<<blocks, block>>>();",
             {96, 1, 1}},
        // Under a condition, twice, after a use, in another function, or by what is not known.
        Case{"dim3 block;\nif (n > 4) block.x = 64;\nk<<<1, block>>>();", {}},
        Case{"dim3 block;\nblock.x = 64;\nblock.x = 32;\nk<<<1, block>>>();", {}},
        Case{"dim3 block;\nk<<<1, block>>>();\nblock.x = 64;\nk<<<1, block>>>();", {}},
        Case{"dim3 block;\nint one = block.x;\nblock.x = 64;\nk<<<one, block>>>();", {}},
        Case{"dim3 block;\nblock.x += 64;\nk<<<1, block>>>();", {}},
        Case{"dim3 block;\nblock.x = 64;\nuse(block);\nk<<<1, block>>>();", {}},
        Case{"dim3 block;\nblock.x = n;\nblock.y = 4;\nk<<<1, block>>>();", {0, 4, 1}},
        // Every device has warps of one size, and blocks of another.
        Case{"cudaDeviceProp own = *device;\nk<<<1, 4 * own.warpSize>>>();", {128, 1, 1}},
        Case{"dim3 block(device->warpSize);\nk<<<1, block>>>();", {32, 1, 1}},
        Case{"k<<<1, device->maxThreadsPerBlock>>>();", {}}));

} // namespace
} // namespace kernelskill::analysis
