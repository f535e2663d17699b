#include "engine/review/walked_arrays.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

std::vector<WalkedArray> walkedIn(const std::string& statements) {
    const auto file = parsedProgram("__device__ void sort(float* v, int n);\n"
                                    "__global__ void k(float* out, int n) {\n"
                                    "    float held[8], last = 0;\n" +
                                    statements + "    out[threadIdx.x] = held[0] + last;\n}\n");
    return walkedArrays(file, file.kernels.at(0));
}

TEST(WalkedArrays, APointerThatSteps) {
    const auto found = walkedIn("    for (float* p = held; p != held + 8; ++p) *p = 1;\n");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].pointer, "p");
    EXPECT_EQ(found[0].array, "held");
    EXPECT_EQ(found[0].line, 4u);
    EXPECT_EQ(walkedIn("    float* p; p = &held[1]; p += n; last = *p;\n").size(), 1u);
    EXPECT_EQ(walkedIn("    float* p = held; while (n--) { *p = 2; p = p + 1; }\n").size(), 1u);
}

TEST(WalkedArrays, PointersThatStay) {
    EXPECT_TRUE(walkedIn("    float* p = held; for (int i = 0; i < n; ++i) p[i] = 1;\n").empty());
    EXPECT_TRUE(walkedIn("    float* p = out; *p++ = 1;\n").empty()) << "it is not its own";
    EXPECT_TRUE(walkedIn("    sort(held, 8);\n").empty());
}

} // namespace
} // namespace kernelskill::engine
