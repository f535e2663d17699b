#include "engine/inputs/name_guesses.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(NameGuesses, extentsAreSmallEnoughToEmulate) {
    for (const auto* name : {"n", "N", "width", "numElements", "nnz", "total_size", "rows",
                             "imageW", "wA", "dataH", "levels", "LEVELS", "time", "hidden_n"}) {
        const auto guess = guessFromName(name);
        EXPECT_TRUE(guess.isExtent) << name;
        EXPECT_GT(guess.integer, 1) << name;
        EXPECT_LE(guess.integer, 4096) << name;
    }
}

TEST(NameGuesses, positionsBeginAtZeroAndAreNoExtents) {
    for (const auto* name : {"offset", "start", "startIdx", "i"}) {
        EXPECT_EQ(guessFromName(name).integer, 0) << name;
        EXPECT_FALSE(guessFromName(name).isExtent) << name;
    }
}

TEST(NameGuesses, numbersOfBitsFitAnInteger) {
    for (const auto* name : {"nbits", "num_bits", "radixBits"})
        EXPECT_LE(guessFromName(name).integer, 32) << name;
}

TEST(NameGuesses, aStrideCoversItsWidth) {
    EXPECT_GE(guessFromName("pitch").integer, guessFromName("width").integer);
    EXPECT_GE(guessFromName("lda").integer, guessFromName("K").integer);
}

TEST(NameGuesses, theStrideOfAWindowIsSmall) {
    EXPECT_EQ(guessAmong("stride", {"height", "width", "ksize", "pad", "stride"}).integer, 1);
    EXPECT_EQ(guessAmong("stride", {"height", "width", "pad", "stride"}).integer,
              guessFromName("stride").integer);
    EXPECT_EQ(guessAmong("width", {"width", "ksize"}).integer, guessFromName("width").integer);
}

TEST(NameGuesses, floatingParametersKeepComputationsFinite) {
    EXPECT_NE(guessFromName("factor").floating, 1);
    EXPECT_DOUBLE_EQ(guessFromName("beta2").floating, 0.999);
    EXPECT_GT(guessFromName("eps").floating, 0);
    EXPECT_LT(guessFromName("eps").floating, 1e-3);
}

} // namespace
} // namespace kernelskill::engine
