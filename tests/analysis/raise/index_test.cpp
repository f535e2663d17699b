#include "analysis/raise/index.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kernelskill::analysis::raise {
namespace {

Axis axis(std::uint32_t id, const std::string& name, const Index& extent) {
    return {id, name, std::make_shared<const Index>(extent)};
}

class RaisedIndices : public ::testing::Test {
protected:
    const Index n = Index::size("n", 1);
    const Index i = Index::of(axis(1, "i", 8));
    const Index j = Index::of(axis(2, "j", 4));
    const Index k = Index::of(axis(3, "k", n));
};

TEST_F(RaisedIndices, ArePolynomials) {
    EXPECT_EQ(i * 4 + j - j, i * 4);
    EXPECT_EQ((i + 1) * (i - 1), i * i - 1);
    EXPECT_EQ((i - i).constant(), 0);
    EXPECT_EQ(Index::of(axis(9, "one", 1)).constant(), 0); // The only element.
    EXPECT_EQ((k * 2 + 3).text(), "3 + 2*k#3");
}

TEST_F(RaisedIndices, AreDividedWhereThatIsKnown) {
    EXPECT_EQ(quotient(i * 4 + j, 4), i);
    EXPECT_EQ(remainder(i * 4 + j, 4), j);
    EXPECT_EQ(quotient(i, 8).constant(), 0);
    EXPECT_EQ(quotient(i * 4 + j, 8), quotient(i, 2));
    EXPECT_EQ(remainder(i * 4 + j, 8), remainder(i, 2) * 4 + j);
    EXPECT_EQ(quotient(quotient(k, 2), 3), quotient(k, 6));
    EXPECT_EQ(remainder(remainder(k, 6), 3), remainder(k, 3));
    EXPECT_EQ(quotient(Index(-7), 2).constant(), -4);
    EXPECT_EQ(remainder(Index(-7), 2).constant(), 1);
    EXPECT_NE(quotient(i * 4 + j + 1, 4), i); // j + 1 may be 4.
}

TEST_F(RaisedIndices, AreDividedBySizesThatAreNotKnown) {
    EXPECT_EQ(quotient(i * n + k, n), i);
    EXPECT_EQ(remainder(i * n + k, n), k);
    EXPECT_EQ(quotient(i * n * 4 + j * n + k, n), i * 4 + j);
}

TEST_F(RaisedIndices, HaveNoPositionInAnEmptyAxis) {
    EXPECT_EQ(quotient(i, 0).constant(), 0);
    EXPECT_EQ(remainder(Index(5), 0).constant(), 0);
    EXPECT_EQ(unflattened(k, {Index(2), Index(0)}).at(1).constant(), 0);
}

TEST_F(RaisedIndices, KnowTheirBounds) {
    EXPECT_EQ((i * 4 + j).bounds().high, 31);
    EXPECT_EQ((i * 4 + j).bounds().low, 0);
    EXPECT_EQ((j - i).bounds().low, -7);
    EXPECT_EQ(k.bounds().high, std::nullopt);
    EXPECT_EQ(remainder(k, 5).bounds().high, 4);
    EXPECT_TRUE(isWithin(k, n));
    EXPECT_FALSE(isWithin(k + 1, n));
}

TEST_F(RaisedIndices, AreTheSameAfterAViewAndBack) {
    const std::vector<Index> shape{8, 4, n};
    const std::vector<Index> position{i, j, k};
    const std::vector<Index> other{Index(16), Index(2), n};
    const Index at = flattened(position, shape);
    EXPECT_EQ(unflattened(at, shape), position);
    EXPECT_EQ(flattened(unflattened(at, other), other), at);
    const Index flat = Index::of(axis(4, "flat", 24));
    EXPECT_EQ(flattened(unflattened(flat, {2, 3, 4}), {2, 3, 4}), flat);
    // A part of a tensor: the element's number is a sum.
    const Index part =
        Index::of(axis(5, "part", 1024)) * 1835008 + Index::of(axis(6, "e", 1835008));
    const std::vector<Index> images{112, 64, 512, 512};
    EXPECT_EQ(flattened(unflattened(part, images), images), part);
}

TEST_F(RaisedIndices, AreSubstituted) {
    EXPECT_EQ((i * 4 + quotient(j + k, 3)).substituted({{1, Index(2)}, {2, k}}),
              quotient(k * 2, 3) + 8);
    EXPECT_TRUE(quotient(k, 3).mentions(3));
    EXPECT_FALSE(quotient(k, 3).mentions(1));
}

/// Quotients and remainders of random sums agree with arithmetic on numbers.
TEST(RandomRaisedIndices, AreDividedAsNumbersAre) {
    std::mt19937 random(7);
    const auto below = [&](int bound) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(bound));
    };
    for (int round = 0; round < 3000; ++round) {
        std::vector<std::int64_t> extents;
        std::vector<Index> axes;
        for (std::uint32_t id = 0; id < 3; ++id) {
            extents.push_back(1 + below(6));
            axes.push_back(Index::of(axis(id, "a", extents.back())));
        }
        std::vector<std::int64_t> factors{below(13), below(13), below(13)};
        const std::int64_t constant = below(9) - 4;
        const std::int64_t divisor = 1 + below(12);
        Index sum = constant;
        for (std::size_t a = 0; a < 3; ++a)
            sum = sum + axes[a] * factors[a];
        const Index divided = quotient(sum, divisor);
        const Index rest = remainder(sum, divisor);
        const Index again = flattened(unflattened(sum, {1000, divisor}), {1000, divisor});
        for (int point = 0; point < 5; ++point) {
            std::map<std::uint32_t, Index> at;
            std::int64_t value = constant;
            for (std::uint32_t id = 0; id < 3; ++id) {
                const std::int64_t place = below(static_cast<int>(extents[id]));
                at.emplace(id, Index(place));
                value += place * factors[id];
            }
            const std::int64_t expectedRest = ((value % divisor) + divisor) % divisor;
            ASSERT_EQ(rest.substituted(at).constant(), expectedRest) << sum.text();
            ASSERT_EQ(divided.substituted(at).constant(), (value - expectedRest) / divisor)
                << sum.text() << " / " << divisor;
            ASSERT_EQ(again.substituted(at).constant(), value) << sum.text();
        }
    }
}

} // namespace
} // namespace kernelskill::analysis::raise
