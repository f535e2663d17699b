#include "engine/review/smaller_arrays.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

analysis::FileModel fileWith(const std::string& elements, const std::string& statements) {
    return parsedProgram("__device__ void push(int* stack, int& top, int v) { stack[top++] = v; }\n"
                         "__global__ void k(const int* next, int* out, int n) {\n"
                         "    int top = 0, held" +
                         elements + ";\n" + statements + "    out[threadIdx.x] = top;\n}\n");
}

std::vector<SmallerArray> smallerIn(const std::string& statements,
                                    const std::string& before = "[16]",
                                    const std::string& after = "[6]") {
    const auto original = fileWith(before, statements);
    const auto candidate = fileWith(after, statements);
    return smallerArrays(original, original.kernels.at(0), candidate, candidate.kernels.at(0));
}

TEST(SmallerArrays, AreNamedWhereNothingShowsThatTheyAreLargeEnough) {
    const auto found = smallerIn("    held[top++] = n;\n");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].name, "held");
    EXPECT_EQ(found[0].line, 3u);
    EXPECT_EQ(found[0].before, 16);
    EXPECT_EQ(found[0].after, 6);
    EXPECT_EQ(smallerIn("    push(held, top, n);\n").size(), 1u) << "by a pointer";
    EXPECT_EQ(smallerIn("    for (int i = 0; i < n; ++i) held[i] = next[i];\n").size(), 1u);
    EXPECT_EQ(smallerIn("    for (int i = 0; i < 8; ++i) held[i] = 1;\n").size(), 1u);
    EXPECT_EQ(smallerIn("    held[n & 3][n] = 1;\n", "[4][8]", "[4][4]").size(), 1u);
}

TEST(SmallerArrays, AreLeftOutWhereEachIndexFits) {
    EXPECT_TRUE(smallerIn("    for (int i = 0; i < 6; ++i) held[i] = next[i];\n").empty());
    EXPECT_TRUE(smallerIn("    held[n & 3] = 1; top = held[5];\n").empty());
    EXPECT_TRUE(smallerIn("    if (n >= 0 && n < 6) held[n] = 1;\n").empty());
    EXPECT_TRUE(smallerIn("    for (int i = 0; i < 4; ++i)\n"
                          "        for (int j = 0; j < 2; ++j) held[i][j] = i;\n",
                          "[4][8]", "[4][2]")
                    .empty());
}

TEST(SmallerArrays, AreNotThoseThatKeepTheirSizeOrGrow) {
    EXPECT_TRUE(smallerIn("    held[top++] = n;\n", "[16]", "[16]").empty());
    EXPECT_TRUE(smallerIn("    push(held, top, n);\n", "[16]", "[32]").empty());
}

} // namespace
} // namespace kernelskill::engine
