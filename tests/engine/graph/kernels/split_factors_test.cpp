/// The two bfloat16 parts of a factor, as the emulator computes them: their sum against the number.
#include "engine/graph/kernels/contraction_multiply.h"
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using ::testing::SizeIs;

constexpr std::size_t numbers = 512;

class SplitFactors : public ExecutorFixture {
protected:
    /// Splits the numbers whose bits `bits` tells of an `i` below 512.
    void split(const std::string& bits) {
        const auto program = parse(
            source("split.cu"), multiplyFunctions(MultiplyUnit::BFloat16Split, SplitSums::All) + R"(
// kernelskill: launch split<<<1, 128>>>(value=zero[512], most=zero[512], rest=zero[512])
__global__ void split(float* value, float* most, float* rest) {
    const int first = threadIdx.x * 4;
    float values[4];
    for (int part = 0; part < 4; ++part) {
        const unsigned i = first + part;
        values[part] = __uint_as_float()" +
                                    bits + R"();
        value[i] = values[part];
    }
    const SplitPair pair = splitPair(values);
    const auto write = [&](float* to, Pair parts) {
        to[first] = firstOf(parts.first);
        to[first + 1] = secondOf(parts.first);
        to[first + 2] = firstOf(parts.second);
        to[first + 3] = secondOf(parts.second);
    };
    write(most, pair.most);
    write(rest, pair.rest);
}
)");
        const auto result = runFirstKernel(program);
        ASSERT_TRUE(result) << result.error().describe();
        value = valuesOf<float>(*result, "value");
        most = valuesOf<float>(*result, "most");
        rest = valuesOf<float>(*result, "rest");
        ASSERT_THAT(value, SizeIs(numbers));
        ASSERT_THAT(most, SizeIs(numbers));
        ASSERT_THAT(rest, SizeIs(numbers));
    }

    std::vector<float> value;
    std::vector<float> most;
    std::vector<float> rest;
};

TEST_F(SplitFactors, KeepSixteenBitsOfTheFraction) {
    // Numbers of both signs, from 2^-100 up to the largest ones.
    split("(0x0d800000u + i * 0x0038f1c7u) ^ (i << 31)");
    bool isRestOfBothSigns = false;
    for (std::size_t i = 0; i < numbers; ++i) {
        const double number = value[i];
        ASSERT_TRUE(std::isfinite(value[i]));
        EXPECT_TRUE(std::isfinite(most[i])) << number;
        EXPECT_LE(std::abs(number - most[i]), std::abs(number) * 0x1p-8);
        EXPECT_LE(std::abs(number - most[i] - rest[i]), std::abs(number) * 0x1p-17);
        isRestOfBothSigns = isRestOfBothSigns || rest[i] * number < 0;
    }
    EXPECT_TRUE(isRestOfBothSigns) << "the rests of many terms do not add up";
}

TEST_F(SplitFactors, KeepTheLargestNumbersFiniteAndInfiniteOnesInfinite) {
    split("(0x7f7fffffu + i % 3u) ^ (i << 31)"); // The last of three is not a number.
    constexpr float largest = 0x1.fep127F;
    for (std::size_t i = 0; i < numbers; ++i) {
        if (i % 3 == 2) {
            EXPECT_TRUE(std::isnan(most[i]));
            continue;
        }
        EXPECT_EQ(most[i], std::copysign(largest, value[i]));
        if (i % 3 == 0)
            EXPECT_LE(std::abs(double{value[i]} - most[i] - rest[i]), 0x1p127 * 0x1p-17);
        else
            EXPECT_EQ(rest[i], value[i]);
    }
}

} // namespace
} // namespace kernelskill::engine::graph
