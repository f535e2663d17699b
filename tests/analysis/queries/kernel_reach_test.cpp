#include "analysis/queries/kernel_reach.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>

namespace kernelskill::analysis {
namespace {

/// The elements of `x` that the statement `body` touches in a kernel of 3 blocks with 32 threads
/// each, where n is 70 and w is 8; nullopt: not known.
struct Case {
    std::string name;
    std::string body;
    std::optional<ByteRange> elements;
    friend std::ostream& operator<<(std::ostream& out, const Case& shown) {
        return out << shown.body;
    }
};

class KernelReaches : public ::testing::TestWithParam<Case> {};

TEST_P(KernelReaches, FollowFromTheText) {
    const FileModel file = testing::analyze(
        "__device__ void fill(float* x) { x[threadIdx.x] = 1; }\n"
        "__global__ void k(float* x, int* places, int n, int w, unsigned u) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    int m = n;\n    " +
        GetParam().body + "\n}\n");
    const KernelReach reach(file.kernels.at(0));
    const LaunchNumbers numbers{{3, 1, 1}, {32, 1, 1}, {std::nullopt, std::nullopt, 70, 8, 0}};
    auto elements = reach.of(0, numbers);
    if (elements)
        elements = ByteRange{elements->begin / 4, elements->end / 4};
    EXPECT_EQ(elements.has_value(), GetParam().elements.has_value());
    if (elements && GetParam().elements) {
        EXPECT_EQ(elements->begin, GetParam().elements->begin);
        EXPECT_EQ(elements->end, GetParam().elements->end);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, KernelReaches,
    ::testing::Values(
        Case{"AllThreads", "x[i] = 0;", ByteRange{0, 96}},
        Case{"NotUsed", "places[i] = 0;", ByteRange{0, 0}},
        Case{"BehindAnOffset", "x[i + w] = x[i];", ByteRange{0, 104}},
        Case{"BelowZero", "x[i - 1] = 0;", ByteRange{-1, 95}},
        Case{"Guarded", "if (i < n) x[i] = 0;", ByteRange{0, 70}},
        Case{"GuardedFromBelow", "if (i >= 1 && i < n - 1) x[i] = x[i - 1] + x[i + 1];",
             ByteRange{0, 70}},
        Case{"GuardedElsewhere", "if (i < n) places[i] = 0; x[i] = 0;", ByteRange{0, 96}},
        Case{"OtherBranch", "if (i >= n) places[i] = 0; else x[i] = 0;", ByteRange{0, 70}},
        Case{"EarlyReturn", "if (i >= n || i < w) return; x[i] = 0;", ByteRange{8, 70}},
        Case{"EarlyReturnInABlock", "if (!(i < n)) { return; } x[i] = 0;", ByteRange{0, 70}},
        Case{"ReturnBehindIt", "x[i] = 0; if (i >= n) return;", ByteRange{0, 96}},
        Case{"AlternativesBoundNothing", "if (i < n || w > 3) x[i] = 0;", ByteRange{0, 96}},
        Case{"Rows", "if (i < w) for (int c = 0; c < w; ++c) x[i * w + c] = 0;", ByteRange{0, 64}},
        Case{"GridStride", "for (int j = i; j < n; j += gridDim.x * blockDim.x) x[j] = 0;",
             ByteRange{0, 70}},
        Case{"NoThread", "if (i < -5) x[i] = 0;", ByteRange{0, 0}},
        Case{"Atomic", "if (i < n) atomicAdd(&x[i], 1.0f);", ByteRange{0, 70}},
        Case{"UnsignedThatWraps", "if (i < u - 1) x[i] = 0;", ByteRange{0, 96}},
        Case{"LimitThatChanges", "m -= 50; if (i < m) x[i] = 0;", ByteRange{0, 96}},
        Case{"IndexThatChanges", "int j = i; if (j < w) { j += 40; x[j] = 0; }",
             ByteRange{40, 136}},
        Case{"ReadIndex", "x[places[i]] = 0;", std::nullopt},
        Case{"Halved", "for (int s = n; s > 0; s /= 2) x[s] = 0;", std::nullopt},
        Case{"CountsItself", "for (int j = 0; j < n; ++j) { j += w; x[j] = 0; }", std::nullopt},
        Case{"AnotherName", "float* y = x + w; y[i] = 0;", std::nullopt},
        Case{"HandedOn", "fill(x);", std::nullopt}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::analysis
