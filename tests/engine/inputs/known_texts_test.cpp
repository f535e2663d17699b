#include "engine/inputs/known_texts.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(KnownTexts, ReplacesTheExtentsOfANamedGrid) {
    KnownTexts known;
    known.addExtents("grid", {7, 5, 3});
    EXPECT_EQ(known.numbersIn("dim3((grid.x + 3) / 4, grid.y, grid . z)"),
              "dim3 ( ( 7 + 3 ) / 4 , 5 , 3 ) ");
    EXPECT_EQ(known.numbersIn("(grid + 1) / 2"), "( 7 + 1 ) / 2 ");
    EXPECT_EQ(known.numbersIn("other.grid.x + grid(1) + grid[2] + my::grid"),
              "other . grid . x + grid ( 1 ) + grid [ 2 ] + my :: grid ");
}

TEST(KnownTexts, ReplacesTheExtentsOfALaunchsList) {
    for (const char* text : {"dim3(w / 16, rows)", "{w / 16, rows}", "dim3{ w/16, rows }"}) {
        KnownTexts known;
        known.addExtents(text, {7, 5, 1});
        EXPECT_EQ(known.numbersIn("dim3((w / 16 + 1) / 2, rows)"), "dim3 ( ( 7 + 1 ) / 2 , 5 ) ")
            << text;
    }
}

TEST(KnownTexts, KeepsPartsThatOperatorsTakeApart) {
    KnownTexts sum;
    sum.addExtents("n + 1", {9, 1, 1});
    EXPECT_EQ(sum.numbersIn("n + 1 + 3"), "9 + 3 ");
    EXPECT_EQ(sum.numbersIn("(n + 1) * 2"), "( 9 ) * 2 ");
    for (const char* text : {"2 * n + 1 ", "n + 1 * 2 ", "m - n + 1 ", "a . n + 1 "})
        EXPECT_EQ(sum.numbersIn(text), text);
    KnownTexts product;
    product.addExtents("n / 2", {9, 1, 1});
    EXPECT_EQ(product.numbersIn("1 + n / 2 * 3"), "1 + 9 * 3 ");
    for (const char* text : {"3 * n / 2 ", "m / n / 2 ", "n / 2 . x "})
        EXPECT_EQ(product.numbersIn(text), text);
    KnownTexts choice;
    choice.addExtents("a ? 1 : n", {9, 1, 1});
    EXPECT_EQ(choice.numbersIn("a ? 1 : n + 3"), "a ? 1 : n + 3 ");
}

TEST(KnownTexts, PrefersTheLongestPartAndNoNumbers) {
    KnownTexts known;
    known.addExtents("dim3(n, n * 2)", {7, 14, 1});
    known.addExtents("256", {1, 1, 1});
    EXPECT_EQ(known.numbersIn("n * 2 + n + 256"), "14 + 7 + 256 ");
    EXPECT_EQ(known.numbersIn(""), "");
}

} // namespace
} // namespace kernelskill::engine
