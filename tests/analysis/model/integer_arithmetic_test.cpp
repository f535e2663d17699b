#include "analysis/model/integer_arithmetic.h"

#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::analysis {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

TEST(IntegerArithmetic, IsThatOfCpp) {
    EXPECT_EQ(integerResult("+", 2, -5), -3);
    EXPECT_EQ(integerResult("-", 2, -5), 7);
    EXPECT_EQ(integerResult("*", -3, 4), -12);
    EXPECT_EQ(integerResult("/", -7, 2), -3);
    EXPECT_EQ(integerResult("%", -7, 2), -1);
    EXPECT_EQ(integerResult("<<", -3, 4), -48);
    EXPECT_EQ(integerResult(">>", -48, 4), -3);
    EXPECT_EQ(integerResult("&", 12, 10), 8);
    EXPECT_EQ(integerResult("|", 12, 10), 14);
    EXPECT_EQ(integerResult("^", 12, 10), 6);
}

TEST(IntegerArithmetic, HasNoResultWhereItDoesNotFit) {
    EXPECT_EQ(integerResult("+", most, 1), std::nullopt);
    EXPECT_EQ(integerResult("-", least, 1), std::nullopt);
    EXPECT_EQ(integerResult("*", most, 2), std::nullopt);
    EXPECT_EQ(integerResult("/", least, -1), std::nullopt);
    EXPECT_EQ(integerResult("%", least, -1), std::nullopt);
    EXPECT_EQ(integerResult("<<", 3, 62), std::nullopt);
    EXPECT_EQ(integerResult("<<", 1, 62), std::int64_t{1} << 62);
}

TEST(IntegerArithmetic, HasNoResultWhereThereIsNone) {
    EXPECT_EQ(integerResult("/", 1, 0), std::nullopt);
    EXPECT_EQ(integerResult("%", 1, 0), std::nullopt);
    EXPECT_EQ(integerResult("<<", 1, -1), std::nullopt);
    EXPECT_EQ(integerResult(">>", 1, 63), std::nullopt);
    EXPECT_EQ(integerResult("&&", 1, 1), std::nullopt);
    EXPECT_EQ(integerResult("", 1, 1), std::nullopt);
}

} // namespace
} // namespace kernelskill::analysis
