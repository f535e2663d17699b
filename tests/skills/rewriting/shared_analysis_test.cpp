#include "skills/rewriting/shared_analysis.h"
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> placesOf(std::string_view text, std::string_view word) {
    std::vector<std::string> places;
    for (const analysis::Span place : occurrences(text, word))
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

TEST(SharedAnalysis, IsMadeOnceForAContextAndItsCopies) {
    const Subject subject = parseSubject("__global__ void k(float* x) { x[threadIdx.x] = 0; }\n"
                                         "void run(float* x) { k<<<1, 32>>>(x); }\n");
    const SkillContext context = subject.context();
    const SkillContext elsewhere = context.at({3, 4});
    EXPECT_EQ(elsewhere.range, (analysis::Span{3, 4}));
    EXPECT_EQ(&context.shared().code(), &elsewhere.shared().code());
    EXPECT_EQ(&context.shared().host(0), &elsewhere.shared().host(0));
    EXPECT_EQ(context.shared().tokens().data(), elsewhere.shared().tokens().data());
    EXPECT_EQ(&context.shared().code().body(), &subject.file.kernels.at(0).body);
    EXPECT_EQ(&context.shared().host(0).body(), &subject.file.hostFunctions.at(0).body);
    EXPECT_EQ(context.shared().tokens().front().text, "__global__");
}

} // namespace
} // namespace kernelskill::skills
