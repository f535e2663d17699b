#include "engine/comparison/output_comparison.h"
#include "tests/engine/comparison/buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;
using kernelskill::testing::bufferOf;
using kernelskill::testing::doubles;
using kernelskill::testing::floats;
using ::testing::HasSubstr;

const Tolerance loose{false, 1e-5};

TEST(OutputComparison, EqualBytesAgree) {
    Comparison result = compareOutputs({floats({1, 2, 3})}, {floats({1, 2, 3})}, {});
    EXPECT_TRUE(result.agrees);
    EXPECT_THAT(result.detail, HasSubstr("3 elements"));
}

TEST(OutputComparison, OneBitDiffersAndIsNamedWithBothValues) {
    Comparison result =
        compareOutputs({floats({1, 2, 3})}, {floats({1, std::nextafter(2.0f, 3.0f), 3})}, {});
    EXPECT_FALSE(result.agrees);
    EXPECT_THAT(result.detail, HasSubstr("y[1] is 2.00000024 where 2 is expected"));
}

TEST(OutputComparison, ZerosOfBothSignsDifferBitByBitButNotWithinATolerance) {
    EXPECT_FALSE(compareOutputs({floats({0.0f})}, {floats({-0.0f})}, {}).agrees);
    EXPECT_TRUE(compareOutputs({floats({0.0f, 1})}, {floats({-0.0f, 1})}, loose).agrees);
}

TEST(OutputComparison, NotANumberEqualsItselfOnly) {
    float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(compareOutputs({floats({nan, 1})}, {floats({-nan, 1})}, {}).agrees);
    EXPECT_TRUE(compareOutputs({floats({nan, 1})}, {floats({nan, 1})}, loose).agrees);
    EXPECT_FALSE(compareOutputs({floats({nan, 1})}, {floats({1, 1})}, loose).agrees);
    EXPECT_FALSE(compareOutputs({floats({1, 1})}, {floats({nan, 1})}, loose).agrees);
}

TEST(OutputComparison, AValueThatTheOriginalsRangeLostIsBetter) {
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<BufferContents> lost{floats({inf, -inf, nan, nan, inf, 1, inf, inf})};
    const std::vector<BufferContents> wide{doubles({2e38, -1e60, 0, 1e-50, 3, 2, inf, 2e38})};
    const std::vector<BufferContents> edit{floats({2e38f, -inf, 0, 0, 4, 2, 5, nan})};
    const auto better = withinRange(lost, wide, edit, 1e-2);
    // Not the fifth, which is another value, those that the original has or no form knows, nor NaN.
    EXPECT_TRUE(compareOutputs(better, {floats({2e38f, -inf, 0, 0, inf, 1, inf, inf})}, {}).agrees);
    EXPECT_TRUE(compareOutputs(withinRange(lost, {}, edit, 1e-2), lost, {}).agrees);
}

TEST(OutputComparison, ErrorsAreScaledToTheOutput) {
    // An element near zero of a large output may be off by what is nothing to the others.
    EXPECT_TRUE(
        compareOutputs({floats({1000, -1000, 0})}, {floats({1000, -1000, 1e-3f})}, loose).agrees);
    EXPECT_FALSE(compareOutputs({floats({1, -1, 0})}, {floats({1, -1, 1e-3f})}, loose).agrees);
}

TEST(OutputComparison, APartOfAnOutputHasTheScaleOfTheWhole) {
    const auto part = [](float value) { return floats({value}, "y[4096..]"); };
    Tolerance usual = loose;
    EXPECT_FALSE(compareOutputs({part(1e-6f)}, {part(2e-6f)}, usual).agrees);
    usual.usualScales = {{"y", 1.0}};
    EXPECT_TRUE(compareOutputs({part(1e-6f)}, {part(2e-6f)}, usual).agrees);
}

TEST(OutputComparison, EachLaneOfAVectorHasItsOwnScale) {
    const auto pairs = [](const std::vector<float>& values) {
        BufferContents buffer = floats(values);
        buffer.elementBytes = 2 * sizeof(float);
        return buffer;
    };
    // Beside a mean of 1000, a variance of 1 must not be off by 0.005.
    EXPECT_TRUE(compareOutputs({floats({1000, 1})}, {floats({1000, 1.005f})}, loose).agrees);
    EXPECT_FALSE(compareOutputs({pairs({1000, 1})}, {pairs({1000, 1.005f})}, loose).agrees);
    EXPECT_TRUE(compareOutputs({pairs({1000, 0})}, {pairs({1000, 1e-6f})}, loose).agrees)
        << "a lane that is zero has the scale of what rounding leaves";
    Tolerance usual = loose;
    usual.usualScales = scalesOf({pairs({100, 1000})});
    EXPECT_EQ(usual.usualScales.size(), 3u);
    EXPECT_TRUE(compareOutputs({pairs({1000, 1})}, {pairs({1000, 1.005f})}, usual).agrees);
}

TEST(OutputComparison, IntegersHaveNoTolerance) {
    auto left = bufferOf<std::int32_t>(ScalarKind::Int32, {1'000'000'000});
    auto right = bufferOf<std::int32_t>(ScalarKind::Int32, {1'000'000'001});
    Comparison result = compareOutputs({left}, {right}, loose);
    EXPECT_FALSE(result.agrees);
    EXPECT_THAT(result.detail, HasSubstr("1000000001 where 1000000000"));
}

TEST(OutputComparison, FloatsAreMeasuredAgainstADoubleReference) {
    auto reference = bufferOf<double>(ScalarKind::Double, {1.0 / 3, 2.0 / 3});
    Comparison result = compareOutputs({reference}, {floats({1.0f / 3, 2.0f / 3})}, loose);
    EXPECT_TRUE(result.agrees);
    EXPECT_GT(result.maxError, 0);
    EXPECT_LT(result.maxError, 1e-7);
}

TEST(OutputComparison, SixteenBitFormatsAreDecoded) {
    // 1.5 and 1.501 in half are neighbours; 1.5 and 2 are not.
    auto half = [](std::uint16_t bits) {
        return bufferOf<std::uint16_t>(ScalarKind::Half, {bits});
    };
    EXPECT_TRUE(compareOutputs({half(0x3e00)}, {half(0x3e01)}, {false, 1e-2}).agrees);
    EXPECT_FALSE(compareOutputs({half(0x3e00)}, {half(0x4000)}, {false, 1e-2}).agrees);
    auto brain = [](std::uint16_t bits) {
        return bufferOf<std::uint16_t>(ScalarKind::BFloat16, {bits});
    };
    EXPECT_TRUE(compareOutputs({brain(0x3fc0)}, {brain(0x3fc1)}, {false, 1e-2}).agrees);
    EXPECT_FALSE(compareOutputs({brain(0x3fc0)}, {brain(0x4000)}, {false, 1e-2}).agrees);
}

TEST(OutputComparison, AMissingOrShorterBufferDiffers) {
    EXPECT_FALSE(compareOutputs({floats({1})}, {}, loose).agrees);
    EXPECT_FALSE(compareOutputs({floats({1, 2})}, {floats({1})}, loose).agrees);
    BufferContents renamed = floats({1});
    renamed.name = "z";
    EXPECT_FALSE(compareOutputs({floats({1})}, {renamed}, loose).agrees);
}

TEST(OutputComparison, ABufferThatWasNotTouchedIsNotLookedAt) {
    EXPECT_TRUE(compareOutputs({floats({})}, {floats({7})}, {}).agrees);
    EXPECT_FALSE(compareOutputs({floats({7})}, {floats({})}, {}).agrees);
}

TEST(Controls, AreToldFromARealResult) {
    std::vector<BufferContents> real{floats({0.5f, -0.25f, 0.75f})};
    EXPECT_FALSE(compareOutputs(real, zeroed(real), loose).agrees);
    EXPECT_FALSE(compareOutputs(real, constantFilled(real), loose).agrees);
}

TEST(OutputComparison, APartIsComparedAtTheScaleOfItsBuffer) {
    std::vector<BufferContents> expected{floats({1e-4f})};
    std::vector<BufferContents> actual{floats({1.01e-4f})};
    expected.front().name = actual.front().name = "y[4096..]";
    EXPECT_FALSE(compareOutputs(expected, actual, loose).agrees);
    Tolerance usual = loose;
    usual.usualScales = {{"y", 1.0}};
    EXPECT_TRUE(compareOutputs(expected, actual, usual).agrees);
}

TEST(Controls, AreNotToldFromAResultThatIsNothing) {
    std::vector<BufferContents> nothing{floats({0, 0, 0})};
    EXPECT_TRUE(compareOutputs(nothing, zeroed(nothing), loose).agrees);
    std::vector<BufferContents> constant{floats({2, 2, 2})};
    EXPECT_TRUE(compareOutputs(constant, constantFilled(constant), loose).agrees);
}

} // namespace
} // namespace kernelskill::engine
