#include "analysis/queries/source_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernelskill::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> placesOf(std::string_view text, std::string_view word) {
    std::vector<std::string> places;
    for (const Span place : occurrences(text, word))
        places.push_back(std::to_string(place.begin) + ".." + std::to_string(place.end));
    return places;
}

TEST(Occurrences, AreWholeWordsWhereverTheyStand) {
    EXPECT_THAT(placesOf("k kk k2 _k k<<<1>>>(k)", "k"), ElementsAre("0..1", "11..12", "20..21"));
    EXPECT_THAT(placesOf("// add\n\"add\" add_1 add", "add"),
                ElementsAre("3..6", "8..11", "19..22"));
}

TEST(Occurrences, ALetterOfAnotherAlphabetIsPartOfAWord) {
    EXPECT_THAT(placesOf("add\xc3\xa9 \xc3\xa9"
                         "add",
                         "add"),
                IsEmpty());
}

TEST(Occurrences, ThereAreNoneOfNothing) {
    EXPECT_THAT(placesOf("a b", ""), IsEmpty());
    EXPECT_THAT(placesOf("", "a"), IsEmpty());
}

} // namespace
} // namespace kernelskill::analysis
