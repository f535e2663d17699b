/// Edits that gain nothing alone and are built on: when, how many, and what comes of it.
#include "tests/engine/search/search_fixture.h"

#include <gmock/gmock.h>

#include <thread>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SteppingStonesTest : public SearchFixture {};

TEST_F(SteppingStonesTest, GoodPracticeThatLetsAnAnswerFitIsAStepOnTheWay) {
    steps_.hygiene = {'a'};
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.costs = {{"oab", 50}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_THAT(found.attempts.at(0).decision, HasSubstr("kept, because it lets b fit"));
    EXPECT_THAT(steps_.reviews, ::testing::Contains("o>oab")); // The whole is reviewed.
}

TEST_F(SteppingStonesTest, AStepIsNoResultByItself) {
    steps_.hygiene = {'a'};
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    EXPECT_FALSE(run().isImproved());
}

TEST_F(SteppingStonesTest, GoodPracticeThatOpensNothingOrCostsTimeIsNoStep) {
    steps_.hygiene = {'a', 'c'};
    steps_.plans = {{"o", "ac"}, {"oa", "c"}, {"oc", "b"}};
    steps_.costs = {{"oc", 150}, {"ocb", 50}};
    const Optimization found = run();
    EXPECT_FALSE(found.isImproved());
    EXPECT_EQ(found.attempts.size(), 2u);
}

TEST_F(SteppingStonesTest, AtAGlanceAStepNeedsNoReviewOfItsOwn) {
    options_.measure = true;
    steps_.hygiene = {'a'};
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 1.0}, {"o>oab", 1.5}};
    steps_.inconclusive = {"o>oa"};
    steps_.verdicts = {{"o>oab", {VerdictStatus::Faster, 1.4}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_EQ(found.verdict->speedup, 1.4);
    EXPECT_THAT(steps_.reviews, ElementsAre("o>oab"));
}

TEST_F(SteppingStonesTest, APairOfEditsThatPaysOnlyTogetherIsFound) {
    steps_.plans = {{"o", "ab"}, {"oa", "c"}};
    steps_.costs = {{"oac", 50}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "c"));
    EXPECT_THAT(found.attempts.at(0).decision, HasSubstr("kept to build on"));
    EXPECT_THAT(steps_.reviews, ::testing::Contains("o>oac"));
    EXPECT_THAT(steps_.reviews, ::testing::Not(::testing::Contains("oa>oac")))
        << "compared with what came before the step";
}

TEST_F(SteppingStonesTest, APairIsFoundAtAGlanceWithOneReview) {
    options_.measure = true;
    steps_.plans = {{"o", "ab"}, {"oa", "c"}};
    steps_.glances = {{"o>oa", 0.95}, {"o>ob", 0.4}, {"o>oac", 1.6}};
    steps_.verdicts = {{"o>oac", {VerdictStatus::Faster, 1.5}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "c"));
    EXPECT_EQ(found.verdict->speedup, 1.5);
    EXPECT_THAT(steps_.reviews, ElementsAre("o>oac"));
    EXPECT_FALSE(found.attempts.at(1).isKept) << "too slow to build on";
}

TEST_F(SteppingStonesTest, ThreeEditsThatPayOnlyTogetherAreFoundAndFourAreNot) {
    options_.measure = true;
    steps_.plans = {{"o", "a"}, {"oa", "b"}, {"oab", "c"}, {"oabc", "d"}};
    steps_.glances = {{"o>oa", 0.95}, {"o>oab", 0.95}, {"o>oabc", 1.5}};
    steps_.verdicts = {{"o>oabc", {VerdictStatus::Faster, 1.5}}};
    EXPECT_THAT(run().skills, ElementsAre("a", "b", "c"));
    steps_.memory.clear();
    steps_.glances["o>oabc"] = 0.95;
    steps_.glances["o>oabcd"] = 1.5;
    steps_.verdicts = {{"o>oabcd", {VerdictStatus::Faster, 1.5}}};
    EXPECT_FALSE(run().isImproved());
}

TEST_F(SteppingStonesTest, WhatWasClearlySlowerIsNotTriedAgainOnAStepBesideTheBottleneck) {
    options_.measure = true;
    steps_.hygiene = {'a'};
    steps_.plans = {{"o", "abc"}, {"oa", "bc"}};
    steps_.glances = {{"o>oa", 0.98}, {"o>ob", 0.7}, {"o>oc", 0.92}};
    const Optimization found = run();
    EXPECT_FALSE(found.isImproved());
    const auto triesOf = [](const Optimization& search, char skill) {
        return std::ranges::count_if(search.attempts, [&](const Attempt& attempt) {
            return attempt.plan.offer.skillId == std::string(1, skill);
        });
    };
    EXPECT_EQ(triesOf(found, 'b'), 1);
    EXPECT_EQ(triesOf(found, 'c'), 2) << "it is little slower on the original";
    steps_.memory.clear();
    steps_.hygiene.clear(); // The step answers the bottleneck now.
    EXPECT_EQ(triesOf(run(), 'b'), 2);
}

TEST_F(SteppingStonesTest, WhatIsMuchSlowerIsBuiltOnOnlyIfItAsksLessOfMemory) {
    options_.measure = true;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 0.6}, {"o>oab", 1.5}};
    steps_.verdicts = {{"o>oab", {VerdictStatus::Faster, 1.5}}};
    steps_.sectors = {{"o", 100}, {"oa", 100}};
    EXPECT_FALSE(run().isImproved());
    steps_.memory.clear();
    steps_.sectors["oa"] = 50;
    EXPECT_THAT(run().skills, ElementsAre("a", "b"));
    steps_.memory.clear();
    steps_.glances["o>oa"] = 0.4;
    EXPECT_FALSE(run().isImproved());
}

TEST_F(SteppingStonesTest, PlansOfAStepThatAreNoFasterThanWhatCameBeforeItAreNotReviewed) {
    options_.measure = true;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 0.9}, {"o>oab", 0.99}}; // 1.1 times as fast as the step
    EXPECT_FALSE(run().isImproved());
    EXPECT_THAT(steps_.reviews, IsEmpty());
}

TEST_F(SteppingStonesTest, StepsAreBoundedInNumber) {
    options_.measure = true;
    options_.rounds = 100;
    steps_.everywhere = "abcdefghijkl";
    for (const char first : steps_.everywhere) {
        steps_.glances[fmt::format("o>o{}", first)] = 0.95;
        for (const char second : steps_.everywhere) {
            steps_.glances[fmt::format("o>o{}{}", first, second)] = 0.95;
            for (const char third : steps_.everywhere)
                steps_.glances[fmt::format("o>o{}{}{}", first, second, third)] = 0.95;
        }
    }
    const Optimization found = run();
    EXPECT_EQ(std::ranges::count(found.attempts, true, &Attempt::isKept), 4);
    EXPECT_EQ(found.stop, StopReason::NoPlanLeft);
    EXPECT_FALSE(found.isImproved());
    EXPECT_THAT(found.edits, IsEmpty());
}

TEST_F(SteppingStonesTest, StepsDoNotKeepBetterVersionsWaiting) {
    options_.measure = true;
    options_.beam = 1;
    steps_.plans = {{"o", "ab"}, {"ob", "c"}, {"oa", "d"}};
    steps_.glances = {{"o>oa", 1.0}, {"o>ob", 1.5}, {"ob>obc", 1.5}};
    steps_.inconclusive = {"o>oa"};
    steps_.verdicts = {{"o>ob", {VerdictStatus::Faster, 1.5}},
                       {"ob>obc", {VerdictStatus::Faster, 1.5}},
                       {"o>obc", {VerdictStatus::Faster, 2.2}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("b", "c"));
    ASSERT_GE(steps_.reviews.size(), 2u);
    EXPECT_EQ(steps_.reviews[0], "o>ob");
    EXPECT_EQ(steps_.reviews[1], "ob>obc");
}

TEST_F(SteppingStonesTest, WhereRoundsGainNothingStepsAreStillBuiltOn) {
    options_.beam = 1;
    steps_.plans = {{"o", "abcdef"}, {"oa", "g"}};
    steps_.fitsOnly = {'b', 'c', 'd', 'e', 'f'};
    steps_.costs = {{"oag", 50}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "g"));
}

TEST_F(SteppingStonesTest, ResultsAreNeverWorseWhateverStepsLeadThere) {
    options_.measure = true;
    std::uint32_t random = 1;
    int improved = 0;
    for (int trial = 0; trial < 20; ++trial) {
        steps_.memory.clear();
        steps_.verdicts.clear();
        steps_.glances.clear();
        std::vector<std::string> texts{"o"};
        steps_.everywhere = "abc";
        for (std::size_t i = 0; i < texts.size() && texts[i].size() < 5; ++i)
            for (const char letter : steps_.everywhere)
                texts.push_back(texts[i] + letter);
        std::map<std::string, double> speeds;
        for (const std::string& text : texts) {
            random = random * 1664525 + 1013904223;
            speeds[text] = text == "o" ? 1 : 0.6 + (random >> 16) % 60 / 100.0;
        }
        for (const auto& [from, before] : speeds)
            for (const auto& [to, after] : speeds) {
                if (!to.starts_with(from) || from == to)
                    continue;
                const double ratio = after / before;
                steps_.glances[from + ">" + to] = ratio;
                steps_.verdicts[from + ">" + to] = {
                    ratio > 1 ? VerdictStatus::Faster : VerdictStatus::Slower, ratio};
            }
        const Optimization found = run();
        if (!found.isImproved())
            continue;
        ++improved;
        ASSERT_TRUE(found.verdict);
        EXPECT_EQ(found.verdict->status, VerdictStatus::Faster);
        EXPECT_GT(found.verdict->speedup.value_or(0), 1);
        const std::string text = "o" + found.edits.at("a.cu").at(0).newText;
        EXPECT_DOUBLE_EQ(*found.verdict->speedup, speeds[text]) << "of the whole, not of a step";
    }
    EXPECT_GT(improved, 10);
}

TEST_F(SteppingStonesTest, BuildingOnStepsEndsWithTheTime) {
    options_.time = std::chrono::seconds(1);
    options_.rounds = 100;
    options_.slots = 1;
    steps_.everywhere = "abcdefgh";
    steps_.duringReview = [](const std::string&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    };
    const auto begin = std::chrono::steady_clock::now();
    const Optimization found = run();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_FALSE(found.isImproved());
}

} // namespace
} // namespace kernelskill::engine
