#include "analysis/source/decimal.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace kernelskill::analysis {
namespace {

TEST(Decimal, IsTheWholeText) {
    EXPECT_EQ(decimalIn("256"), 256);
    EXPECT_EQ(decimalIn("-1"), -1);
    EXPECT_EQ(decimalIn("9223372036854775807"), INT64_MAX);
}

TEST(Decimal, IsNothingElse) {
    for (const char* text : {"", " 1", "1 ", "1u", "+1", "0x10", "BLOCK", "9223372036854775808"})
        EXPECT_FALSE(decimalIn(text)) << text;
}

} // namespace
} // namespace kernelskill::analysis
