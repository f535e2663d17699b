/// The best few values of a row, which lanes put together.
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "row-per-warp";

/// A kernel on rows with `body` behind its index.
std::string kernel(const std::string& body) {
    return "__global__ void k(const float* a, float* c, int* p, int m, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= m) return;\n" +
           body +
           "}\nvoid run(int m, int n) {\n    float *a, *c;\n    int* p;\n"
           "    cudaMalloc(&a, n);\n    cudaMalloc(&c, n);\n    cudaMalloc(&p, n);\n"
           "    k<<<(m + 127) / 128, 128>>>(a, c, p, m, n);\n}\n";
}

/// A search by `chain`, with `declared` before the loop and `stores` behind it.
std::string search(const std::string& chain,
                   const std::string& declared = "    float x = -1e30f, y = -1e30f;\n",
                   const std::string& stores = "    c[i] = x - y;\n") {
    return kernel(declared +
                  "    for (int j = 0; j < n; ++j) {\n        float v = a[i * n + j];\n" + chain +
                  "    }\n" + stores);
}

const std::string two = "        if (v > x) { y = x; x = v; } else if (v > y) y = v;\n";

TEST(RankedValues, AreComparedLaneByLane) {
    const std::string text = appliedText(id, search(two));
    const std::string combined = "        const float otherX = __shfl_xor_sync(0xffffffff, x, "
                                 "offset);\n        const float otherY = "
                                 "__shfl_xor_sync(0xffffffff, y, offset);\n"
                                 "        if (otherX > x) {\n            y = x;\n"
                                 "            x = otherX;\n        } else if (otherX > y) {\n"
                                 "            y = otherX;\n        }\n        if (otherY > y) {\n"
                                 "            y = otherY;\n        }\n";
    EXPECT_TRUE(text.contains(combined)) << text;
    EXPECT_EQ(offeredNumerics(id, search(two)), Numerics::Exact);
}

TEST(RankedValues, RankPlacesByTheFirstOfEqualValues) {
    const std::string text =
        appliedText(id, search("        if (v < x) { y = x; q = p0; x = v; p0 = j; }\n"
                               "        else if (v < y) { q = j; y = v; }\n",
                               "    float x = 1e30f, y = 1e30f;\n    int p0 = 0, q = 0;\n",
                               "    c[i] = y;\n    p[2 * i] = p0;\n    p[2 * i + 1] = q;\n"));
    EXPECT_TRUE(text.contains("if (otherX < x || (otherX == x && otherP0 < p0)) {")) << text;
    EXPECT_TRUE(text.contains("} else if (otherX < y || (otherX == y && otherP0 < q)) {")) << text;
    EXPECT_TRUE(text.contains("if (lane == 0)\n        p[2 * i + 1] = q;")) << text;
}

struct Other {
    std::string name;
    std::string source;
};

class OtherSearches : public ::testing::TestWithParam<Other> {};

TEST_P(OtherSearches, AreRefused) {
    checkNotApplicable(id, GetParam().source, "carries-over");
}

INSTANTIATE_TEST_SUITE_P(
    All, OtherSearches,
    ::testing::Values(
        Other{"StartsWithOtherValues", search(two, "    float x = 5, y = -1e30f;\n")},
        Other{"ForgetsARank", search("        if (v > x) { x = v; } else if (v > y) y = v;\n")},
        Other{"MovesAfterSetting",
              search("        if (v > x) { x = v; y = x; } else if (v > y) y = v;\n")},
        Other{"ComparesOtherwise",
              search("        if (v > x) { y = x; x = v; } else if (v < y) y = v;\n")},
        Other{"ComparesAnotherValue",
              search("        if (v > x) { y = x; x = v; } else if (v + 1 > y) y = v;\n")},
        Other{"AsksElsewhere", search(two + "        c[i * n + j] = x;\n")},
        Other{"KeepsTheLastOfEqualPlaces",
              search("        if (v >= x) { y = x; q = p0; x = v; p0 = j; }\n"
                     "        else if (v >= y) { y = v; q = j; }\n",
                     "    float x = -1e30f, y = -1e30f;\n    int p0 = 0, q = 0;\n",
                     "    c[i] = x + y;\n    p[i] = p0 + q;\n")},
        Other{
            "HasAnotherElse",
            search("        if (v > x) { y = x; x = v; } else if (v > y) y = v; else x += 1;\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
