/// The largest or smallest value of a row and its place, in the ways in which kernels search for
/// it.
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "row-per-warp";

/// A kernel that searches each row of `type` by `round`, with `stores` behind the loop.
std::string search(const std::string& round, const std::string& type = "float",
                   const std::string& stores = "    p[i] = where;\n") {
    return "__global__ void k(const " + type + "* a, int* p, int m, int n) {\n" +
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= m) return;\n    " +
           type + " top = a[i * n];\n    int where = 0;\n    for (int j = 1; j < n; ++j) {\n" +
           "        " + type + " v = a[i * n + j];\n" + round + "    }\n" + stores +
           "}\nvoid run(int m, int n) {\n    " + type +
           "* a;\n    int* p;\n    cudaMalloc(&a, n);\n    cudaMalloc(&p, n);\n"
           "    k<<<(m + 127) / 128, 128>>>(a, p, m, n);\n}\n";
}

struct Search {
    std::string name;
    std::string source;
};

class ValueSearches : public ::testing::TestWithParam<Search> {};

TEST_P(ValueSearches, AreSharedByLanes) {
    const std::string text = appliedText(id, GetParam().source);
    EXPECT_TRUE(text.contains("for (int j = 1 + lane; j < n; j += 32) {")) << text;
    EXPECT_TRUE(text.contains("if (otherTop > top || (otherTop == top && otherWhere < where)) {\n"
                              "            top = otherTop;\n            where = otherWhere;\n"))
        << text;
    EXPECT_EQ(offeredNumerics(id, GetParam().source), Numerics::Exact);
}

INSTANTIATE_TEST_SUITE_P(
    All, ValueSearches,
    ::testing::Values(
        Search{"ByABranch", search("        if (v > top) { top = v; where = j; }\n")},
        Search{"ByChoices", search("        where = v > top ? j : where;\n"
                                   "        top = v > top ? v : top;\n")},
        Search{"ByChoicesTheOtherWayRound", search("        where = top < v ? j : where;\n"
                                                   "        top = v > top ? v : top;\n")},
        Search{"ByANamedCondition", search("        const bool better = v > top;\n"
                                           "        where = better ? j : where;\n"
                                           "        top = better ? v : top;\n")},
        Search{"BySkippingTheRest", search("        if (!(v > top)) continue;\n"
                                           "        top = v;\n        where = j;\n")},
        Search{"BySkippingTheRestInABlock", search("        if (!(top < v)) { continue; }\n"
                                                   "        where = j;\n        top = v;\n")}),
    [](const auto& info) { return info.param.name; });

TEST(SearchWithoutAPlace, IsSharedByLanes) {
    const std::string text =
        appliedText(id, search("        top = v > top ? v : top;\n", "float", "    p[i] = top;\n"));
    EXPECT_TRUE(text.contains("if (otherTop > top)\n            top = otherTop;\n")) << text;
}

class SearchesOfOneValue : public ::testing::TestWithParam<Search> {};

TEST_P(SearchesOfOneValue, AreRefused) {
    checkNotApplicable(id, GetParam().source, "carries-over");
}

INSTANTIATE_TEST_SUITE_P(
    OfOneValue, SearchesOfOneValue,
    ::testing::Values(
        // The place is chosen by the new top, which nothing is larger than.
        Search{"SetsThePlaceLast", search("        top = v > top ? v : top;\n"
                                          "        where = v > top ? j : where;\n")},
        // Among equal values the place is that of the last one, and the top that of the first one.
        Search{"ComparesWithTheNewTop", search("        top = v > top ? v : top;\n"
                                               "        where = v == top ? j : where;\n")},
        // A value that is not a number becomes the top.
        Search{"KeepsWhatIsNotLess", search("        where = v <= top ? where : j;\n"
                                            "        top = v <= top ? top : v;\n")},
        Search{"SkipsWhatIsNotMore", search("        if (v <= top) continue;\n"
                                            "        top = v;\n        where = j;\n")},
        Search{"ComparesOtherwise", search("        where = v >= top ? j : where;\n"
                                           "        top = v > top ? v : top;\n")},
        Search{"ChangesTheValueBetween", search("        where = v > top ? j : where;\n"
                                                "        v = 2 * v;\n"
                                                "        top = v > top ? v : top;\n")},
        Search{"CountsWhatIsBetter", search("        const bool better = v > top;\n"
                                            "        where = better ? j : where;\n"
                                            "        top = better ? v : top;\n"
                                            "        if (better) p[i] += 1;\n")},
        Search{"AsksBeforeAnotherChoice", search("        const bool better = v > top;\n"
                                                 "        top = v > 3 ? v : top;\n"
                                                 "        where = better ? j : where;\n"
                                                 "        top = better ? v : top;\n")},
        Search{"DoesMoreBehind", search("        if (!(v > top)) continue;\n        top = v;\n"
                                        "        where = j;\n        p[i] += 1;\n")},
        Search{"AddsUp", search("        if (top + v > top) { top = top + v; where = j; }\n")},
        Search{"AsksWhere", search("        if (v + where > top) { top = v + where; where = j; "
                                   "}\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
