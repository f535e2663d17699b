#include "engine/graph/reference/judgement.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "engine/graph/torch/agreement.h"
#include "engine/graph/torch/drawn_tensors.h"
#include "engine/graph/torch/guarded_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>

namespace kernelskill::engine::graph {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Agreement agreementOfOne(double found, double expected) {
    return agreementOf(at::full({1}, found, at::kDouble), at::full({1}, expected, at::kDouble));
}

TEST(Agreement, IsTorchsRule) {
    EXPECT_EQ(agreementOfOne(1, 1).error, 0);
    EXPECT_NEAR(agreementOfOne(103, 99).error, 0.04, 1e-12);
    EXPECT_EQ(agreementOfOne(103, 99).beyondLoose, 1);
    EXPECT_EQ(agreementOfOne(1.0001, 1).beyondLoose, 0);
    EXPECT_EQ(agreementOfOne(1.0001, 1).beyondTight, 0);
    EXPECT_EQ(agreementOfOne(1.001, 1).beyondTight, 1);
    for (const double found : {1.0, nan, infinity})
        for (const double expected : {2.0, nan, infinity, -infinity}) {
            const bool isSame = found == expected || (std::isnan(found) && std::isnan(expected));
            const bool isFinite = std::isfinite(found) && std::isfinite(expected);
            EXPECT_EQ(agreementOfOne(found, expected).error,
                      isSame ? 0 : (isFinite ? 1.0 / 3 : infinity))
                << found << " " << expected;
        }
}

TEST(Agreement, FindsTheWorstElement) {
    auto expected = at::zeros({3, 5});
    auto found = expected.clone();
    found[1][4] = 2;
    found[2][0] = -3;
    const Agreement agreement = agreementOf(found, expected);
    EXPECT_EQ(agreement.error, 3);
    EXPECT_EQ(agreement.difference, 3);
    EXPECT_EQ(agreement.found, -3);
    EXPECT_EQ(agreement.beyondLoose, 2);
    EXPECT_EQ(placeText(agreement.worst, expected.sizes()), "[2, 0]");
    EXPECT_EQ(agreementOf(at::empty({0}), at::empty({0})).error, 0);
}

TEST(Agreement, ScalesAtolByTheMagnitude) {
    const auto expected = at::full({4}, 300.0, at::kDouble);
    expected[0] = 0;
    EXPECT_NEAR(magnitudeOf(expected).value(), std::sqrt(3 * 300.0 * 300.0 / 4), 1e-9);
    EXPECT_EQ(magnitudeOf(at::full({4}, -0.5)), 0.5);
    EXPECT_EQ(magnitudeOf(at::full({4}, 1'000, at::kLong)), std::nullopt);
    EXPECT_EQ(magnitudeOf(at::full({4}, infinity)), std::nullopt);
    EXPECT_EQ(magnitudeOf(at::empty({0})), std::nullopt);
    EXPECT_EQ(agreementOf(expected.add(1), expected).beyondLoose, 1);
    EXPECT_EQ(agreementOf(expected.add(1), expected, *magnitudeOf(expected)).beyondLoose, 0);
}

TEST(Agreement, TakesIntegersExactly) {
    const auto expected = at::full({2}, 1'000'000, at::kLong);
    auto found = expected.clone();
    EXPECT_EQ(agreementOf(found, expected).error, 0);
    found[1] = 1'000'001;
    EXPECT_EQ(agreementOf(found, expected).error, infinity);
    EXPECT_EQ(agreementOf(found, expected).beyondLoose, 1);
}

TEST(Agreement, SeesEveryBitInChecksums) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kLong, at::kByte}) {
        const auto tensor = at::arange(21, at::TensorOptions().dtype(at::kDouble)).to(type);
        const auto sum = checksum(tensor);
        EXPECT_EQ(checksum(tensor.clone()), sum);
        for (std::int64_t place = 0; place < 21; ++place) {
            auto other = tensor.clone();
            auto bytes = other.view(at::kByte);
            const std::int64_t size = other.element_size();
            bytes[(place + 1) * size - 1].bitwise_xor_(0x80);
            EXPECT_NE(checksum(other), sum) << at::toString(type) << " " << place;
            EXPECT_FALSE(areSameBits(other, tensor));
        }
        auto swapped = tensor.clone();
        swapped[1] = tensor[2];
        swapped[2] = tensor[1];
        EXPECT_NE(checksum(swapped), sum);
    }
    EXPECT_TRUE(areSameBits(at::full({2}, nan), at::full({2}, nan)));
}

TEST(DrawnTensors, FollowTheirDistribution) {
    const ElementRange free;
    const auto draw = [](const ElementRange& range, Distribution distribution, std::uint64_t seed) {
        auto tensor = at::empty({4096});
        drawTensor(tensor, range, distribution, seed, "x");
        return tensor;
    };
    const auto share = [](const at::Tensor& truths) {
        return truths.to(at::kDouble).mean().item<double>();
    };
    const auto normal = draw(free, Distribution::Normal, 1);
    EXPECT_NEAR(normal.std().item<double>(), 1, 0.1);
    EXPECT_TRUE(areSameBits(normal, draw(free, Distribution::Normal, 1)));
    EXPECT_FALSE(areSameBits(normal, draw(free, Distribution::Normal, 2)));
    EXPECT_LE(draw(free, Distribution::Uniform, 1).abs().max().item<double>(), 1);
    EXPECT_LT(draw(free, Distribution::Uniform, 1).min().item<double>(), -0.9);
    std::set<double> signs;
    for (const std::uint64_t seed : {1, 2}) {
        const auto tensor = draw(free, Distribution::OneSign, seed);
        signs.insert(tensor.mean().item<double>() > 0 ? 1 : -1);
        EXPECT_EQ(tensor.abs().sum().item<double>(), std::abs(tensor.sum().item<double>()));
    }
    EXPECT_EQ(signs.size(), 2u);
    EXPECT_GT(draw(free, Distribution::LargeMagnitude, 1).abs().max().item<double>(), 1000);
    EXPECT_NEAR(share(draw(free, Distribution::WithZeros, 1).eq(0)), 0.5, 0.1);
    const auto denormals = draw(free, Distribution::Denormals, 1);
    EXPECT_NEAR(share(denormals.abs().lt(1.2e-38).logical_and(denormals.ne(0))), 0.5, 0.1);

    ElementRange notNegative;
    notNegative.scale = notNegative.shift = 0.5f;
    for (int i = 0; i < 6; ++i) {
        const auto tensor = draw(notNegative, static_cast<Distribution>(i), 3);
        EXPECT_GE(tensor.min().item<double>(), 0) << i;
        EXPECT_LE(tensor.max().item<double>(), 1) << i;
    }
}

TEST(DrawnTensors, KeepIndicesInTheirBounds) {
    ElementRange range;
    range.integerBound = 7;
    auto indices = at::empty({1000}, at::kLong);
    drawTensor(indices, range, Distribution::LargeMagnitude, 1, "i");
    EXPECT_EQ(indices.min().item<std::int64_t>(), 0);
    EXPECT_EQ(indices.max().item<std::int64_t>(), 6);
    auto truths = at::empty({100}, at::kBool);
    drawTensor(truths, range, Distribution::Normal, 1, "t");
    EXPECT_GT(truths.sum().item<std::int64_t>(), 20);
    auto halves = at::empty({100}, at::kHalf);
    drawTensor(halves, range, Distribution::LargeMagnitude, 1, "h");
    EXPECT_TRUE(halves.to(at::kFloat).isfinite().all().item<bool>());
}

TEST(GuardedBuffer, SeesWritesBesideIt) {
    const GuardedBuffer buffer(20, at::kCPU);
    EXPECT_TRUE(buffer.areMarginsIntact());
    buffer.as({5}, at::kFloat).fill_(1);
    EXPECT_TRUE(buffer.areMarginsIntact());
    auto* bytes = static_cast<char*>(buffer.data());
    bytes[20] = 0;
    EXPECT_FALSE(buffer.areMarginsIntact());
    const GuardedBuffer other(0, at::kCPU);
    EXPECT_TRUE(other.areMarginsIntact());
    static_cast<char*>(other.data())[-1] = 0;
    EXPECT_FALSE(other.areMarginsIntact());
}

} // namespace
} // namespace kernelskill::engine::graph
