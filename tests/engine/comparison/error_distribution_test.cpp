#include "engine/comparison/error_distribution.h"
#include "tests/engine/comparison/buffers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::doubles;
using kernelskill::testing::floats;

constexpr double ulp = 0x1p-23;

/// Errors of `candidate` against `truth`, which the original rounds.
OutputErrors errorsOf(const std::vector<double>& truth, const std::vector<float>& candidate) {
    std::vector<float> original;
    for (const double value : truth)
        original.push_back(static_cast<float>(value));
    ErrorDistribution errors;
    errors.add({doubles(truth)}, {floats(original)}, {floats(candidate)}, {}, 16 * ulp);
    return errors.outputs().at(0);
}

std::vector<double> spreadOut(int count) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i)
        values.push_back((i % 2 == 0 ? 1 : -1) * std::fmod(0.618034 * (i + 1), 1.0));
    return values;
}

TEST(ErrorDistribution, TellsAFactorFromRounding) {
    const auto truth = spreadOut(1000);
    std::vector<float> rounded;
    std::vector<float> enlarged;
    for (const double value : truth) {
        rounded.push_back(std::nextafter(static_cast<float>(value), 0.0f));
        enlarged.push_back(static_cast<float>(value * (1 + 20 * ulp)));
    }
    const OutputErrors towardsZero = errorsOf(truth, rounded);
    EXPECT_LT(towardsZero.candidate.bias(), 0);
    EXPECT_GT(towardsZero.candidate.bias(), -1);
    const OutputErrors factor = errorsOf(truth, enlarged);
    EXPECT_NEAR(factor.candidate.bias(), 20, 0.1);
    EXPECT_GT(factor.candidate.bias(), 100 * factor.candidate.doubt());
    EXPECT_LT(std::abs(factor.original.bias()), 0.1);
    EXPECT_EQ(factor.candidate.count, 1000u);
    EXPECT_DOUBLE_EQ(factor.allowed, 16);
}

TEST(ErrorDistribution, KnowsSmallResultsThatTheOriginalKeeps) {
    const OutputErrors errors = errorsOf({1, 0.1e-4, 0.11e-4, 1e-6}, {1, 0, 0.11e-4f, 0});
    std::uint64_t kept = 0;
    std::uint64_t lost = 0;
    for (const auto& [exponent, small] : errors.small) {
        EXPECT_LT(exponent, -10);
        kept += small.kept;
        lost += small.lost;
    }
    EXPECT_EQ(kept, 3u);
    EXPECT_EQ(lost, 2u);
}

TEST(ErrorDistribution, LeavesOutWhatIsNextToTheSmallestNumbers) {
    EXPECT_TRUE(errorsOf({0x1p-100, 0x1p-120, 0x1p-126}, {0x1p-100f, 0, 0}).small.empty());
    EXPECT_EQ(errorsOf({0x1p-90, 0x1p-105}, {0x1p-90f, 0}).small.size(), 1u);
}

TEST(ErrorDistribution, CountsWhatTheOriginalMissesApart) {
    ErrorDistribution errors;
    errors.add({doubles({1, 0x1p-52, 0x1p-50})}, {floats({1, 0x1p-24f, 0x1p-50f})},
               {floats({1, 0, 0})}, {}, 16 * ulp);
    const auto& small = errors.outputs().at(0).small;
    EXPECT_EQ(small.at(-52).missed, 1u);
    EXPECT_EQ(small.at(-52).lost, 0u);
    EXPECT_EQ(small.at(-50).kept, 1u);
    EXPECT_EQ(small.at(-50).lost, 1u);
}

TEST(ErrorDistribution, TellsHowMuchOfASmallResultIsLeft) {
    const OutputErrors errors =
        errorsOf({1, 1.1e-5, 1.2e-5, 1.3e-5}, {1, 1.1e-5f, 1.2e-5f * (1 + 0x1p-10f), 1.3e-5f * 2});
    std::uint64_t coarse = 0;
    std::uint64_t gone = 0;
    for (const auto& [exponent, small] : errors.small) {
        coarse += small.furtherThan(0x1p-12);
        gone += small.furtherThan(0x1p-5);
        EXPECT_LE(small.furtherThan(2), 0u);
    }
    EXPECT_EQ(coarse, 2u);
    EXPECT_EQ(gone, 1u);
}

TEST(ErrorDistribution, LeavesOutWhatIsExactOrNotFinite) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(errorsOf({1, 2, infinity}, {1, 2, infinity}).candidate.count, 0u);
    const OutputErrors errors = errorsOf({1, 2, infinity}, {1, 2.0000002f, infinity});
    EXPECT_EQ(errors.candidate.count, 1u);
    EXPECT_NEAR(errors.candidate.largest, 1, 1e-6);
    EXPECT_EQ(errors.original.largest, 0);
}

} // namespace
} // namespace kernelskill::engine
