#include "engine/storage/size_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::engine {
namespace {

TEST(SizeText, HasThreeDigits) {
    EXPECT_EQ(sizeText(0), "0 bytes");
    EXPECT_EQ(sizeText(1), "1 byte");
    EXPECT_EQ(sizeText(999), "999 bytes");
    EXPECT_EQ(sizeText(1'000), "1 kB");
    EXPECT_EQ(sizeText(1'234), "1.23 kB");
    EXPECT_EQ(sizeText(480'004), "480 kB");
    EXPECT_EQ(sizeText(999'499), "999 kB");
    EXPECT_EQ(sizeText(999'500), "1 MB");
    EXPECT_EQ(sizeText(12'345'678), "12.3 MB");
    EXPECT_EQ(sizeText(80'000'000'000), "80 GB");
    EXPECT_EQ(sizeText(std::numeric_limits<std::uint64_t>::max()), "18.4 EB");
}

} // namespace
} // namespace kernelskill::engine
