#include "engine/review/arithmetic_precision.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

bool isFullPrecision(const std::string& statement, const std::string& before = "") {
    return computesInFullPrecision(
        parsedProgram("#include <cuda_fp16.h>\n" + before +
                      "__global__ void k(const __half* x, __half* y, const __half2* z, float a) {\n"
                      "    int i = threadIdx.x;\n    " +
                      statement + "\n}\n")
            .kernels.at(0));
}

TEST(ArithmeticPrecision, NumbersOf16BitsMayBeConvertedAndMoved) {
    EXPECT_TRUE(isFullPrecision("y[i] = __float2half(a * __half2float(x[i]) + 1);"));
    EXPECT_TRUE(isFullPrecision("y[i] = x[i + 1];"));
    EXPECT_TRUE(isFullPrecision("const __half* p = x + i; y[i] = *(p + 1);"));
    EXPECT_TRUE(isFullPrecision("y[i] = __shfl_sync(~0u, x[i], 0);"));
}

TEST(ArithmeticPrecision, ArithmeticIn16BitsIsFound) {
    EXPECT_FALSE(isFullPrecision("y[i] = x[i] * x[i];"));
    EXPECT_FALSE(isFullPrecision("y[i] = __hmul(x[i], x[i]);"));
    EXPECT_FALSE(isFullPrecision("__half2 s = z[i] + z[i]; y[i] = __low2half(s);"));
    EXPECT_FALSE(isFullPrecision("__half s = x[i]; s += x[i + 1]; y[i] = s;"));
}

TEST(ArithmeticPrecision, TypesOfTemplatesAreNotKnown) {
    EXPECT_FALSE(isFullPrecision("y[i] = x[i];", "template <typename T> "));
}

} // namespace
} // namespace kernelskill::engine
