/// When a round ends, and what is done for the next one while it lasts.
#include "tests/engine/search/search_fixture.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RoundPaceTest : public SearchFixture {
protected:
    RoundPaceTest() {
        options_.measure = true;
        options_.slots = 2;
    }
    /// Waits until `log` of the steps has `entry`. False after ten seconds.
    bool awaitEntry(const std::vector<std::string>& log, const std::string& entry) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (std::chrono::steady_clock::now() < limit) {
            {
                const std::scoped_lock lock(steps_.mutex);
                if (std::ranges::find(log, entry) != log.end())
                    return true;
            }
            std::this_thread::yield();
        }
        return false;
    }
};

TEST_F(RoundPaceTest, AClearLeaderIsReviewedAloneAndBuiltOnAtOnce) {
    options_.rounds = 2;
    steps_.plans = {{"o", "abc"}, {"ob", "d"}};
    steps_.glances = {{"o>oa", 1.2}, {"o>ob", 3}, {"o>oc", 1.9}, {"ob>obd", 1.2}};
    steps_.verdicts = {{"o>ob", {VerdictStatus::Faster, 3}},
                       {"ob>obd", {VerdictStatus::Faster, 1.2}},
                       {"o>obd", {VerdictStatus::Faster, 3.6}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("b", "d"));
    EXPECT_EQ(steps_.reviews.front(), "o>ob");
    ASSERT_GE(found.attempts.size(), 3u);
    for (const std::size_t left : {0, 2}) {
        EXPECT_TRUE(found.attempts[left].isPostponed);
        EXPECT_FALSE(found.attempts[left].verdict);
        EXPECT_THAT(found.attempts[left].decision, HasSubstr("left for later"));
    }
    const auto first = std::ranges::find_if(
        found.attempts, [](const Attempt& attempt) { return attempt.round == 2; });
    ASSERT_NE(first, found.attempts.end());
    EXPECT_EQ(first->plan.offer.skillId, "d") << "the first of the second round";
}

TEST_F(RoundPaceTest, TheOthersOfTheRoundFollowALeaderThatIsWrong) {
    options_.rounds = 1;
    steps_.plans = {{"o", "abc"}};
    steps_.glances = {{"o>oa", 1.2}, {"o>ob", 3}, {"o>oc", 1.4}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.2}},
                       {"o>ob", {VerdictStatus::Incorrect, 0}},
                       {"o>oc", {VerdictStatus::Faster, 1.4}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("c"));
    EXPECT_EQ(steps_.reviews.front(), "o>ob");
    EXPECT_THAT(steps_.reviews, Contains("o>oa"));
}

TEST_F(RoundPaceTest, AnOrdinaryGainDoesNotEndTheRound) {
    options_.rounds = 1;
    steps_.plans = {{"o", "ab"}};
    steps_.glances = {{"o>oa", 1.4}, {"o>ob", 1.3}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.4}},
                       {"o>ob", {VerdictStatus::Faster, 1.3}}};
    const Optimization found = run();
    EXPECT_THAT(steps_.reviews, ::testing::UnorderedElementsAre("o>oa", "o>ob"));
    EXPECT_TRUE(found.attempts.at(0).isKept && found.attempts.at(1).isKept);
}

TEST_F(RoundPaceTest, ALargeGainEndsWhatPromisesNoMoreAndALaterRoundTakesItUp) {
    options_.rounds = 3;
    steps_.plans = {{"o", "ab"}, {"oa", ""}, {"ob", ""}};
    steps_.glances = {{"o>oa", 3}, {"o>ob", 2.9}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 3}},
                       {"o>ob", {VerdictStatus::Faster, 3.1}}};
    std::atomic<int> reviewsOfB = 0;
    std::atomic<bool> isStopped = false;
    steps_.duringStoppedReview = [&](const std::string& text, const std::stop_token& stop) {
        if (text == "oa")
            EXPECT_TRUE(awaitEntry(steps_.reviews, "o>ob"));
        if (text != "ob" || ++reviewsOfB > 1)
            return;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!stop.stop_requested() && std::chrono::steady_clock::now() < limit)
            std::this_thread::yield();
        isStopped = stop.stop_requested();
    };
    const Optimization found = run();
    EXPECT_TRUE(isStopped);
    EXPECT_EQ(reviewsOfB, 2);
    EXPECT_THAT(found.skills, ElementsAre("b")) << "in the second round";
    EXPECT_TRUE(found.attempts.at(1).isPostponed);
    EXPECT_THAT(found.attempts.at(1).decision, HasSubstr("left for later"));
    EXPECT_EQ(found.attempts.at(2).round, 2);
    EXPECT_EQ(std::ranges::count(steps_.drafts, "o>b"), 1) << "its text is kept";
    EXPECT_EQ(std::ranges::count(steps_.looks, "o>ob"), 1) << "and what a look at it showed";
}

TEST_F(RoundPaceTest, ARoundWithEnoughPlansDoesNotWaitUntilOtherVersionsWereRun) {
    options_.rounds = 2;
    options_.beam = 2;
    steps_.plans = {{"o", "abc"}, {"oa", "de"}, {"ob", "fg"}, {"oc", "h"}};
    steps_.glances = {
        {"o>oa", 1.4}, {"o>ob", 1.3}, {"o>oc", 0.95}, {"oa>oad", 0.5}, {"oa>oae", 0.5}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.4}},
                       {"o>ob", {VerdictStatus::Faster, 1.3}}};
    const Optimization found = run();
    EXPECT_EQ(found.rounds, 2);
    EXPECT_THAT(steps_.assessed, ElementsAre("o", "oa")) << "neither the second best nor a step";
    EXPECT_THAT(steps_.drafts, Contains("oa>e"));
    EXPECT_THAT(steps_.drafts, Not(Contains("ob>f")));
}

TEST_F(RoundPaceTest, VersionsAreRunOnceTheirPlansAreNeeded) {
    options_.rounds = 2;
    options_.beam = 2;
    steps_.plans = {{"o", "ab"}, {"oa", "d"}, {"ob", "f"}};
    steps_.glances = {{"o>oa", 1.4}, {"o>ob", 1.3}, {"oa>oad", 0.5}, {"ob>obf", 0.5}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.4}},
                       {"o>ob", {VerdictStatus::Faster, 1.3}}};
    (void)run();
    EXPECT_THAT(steps_.assessed, ElementsAre("o", "oa", "ob"));
    EXPECT_THAT(steps_.drafts, Contains("ob>f"));
}

TEST_F(RoundPaceTest, WhatCouldNotBeTimedAtAGlanceIsReviewedAllTheSame) {
    options_.rounds = 1;
    steps_.plans = {{"o", "ab"}};
    steps_.glances = {{"o>oa", 3}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 3}}, {"o>ob", {VerdictStatus::Faster, 5}}};
    EXPECT_THAT(run().skills, ElementsAre("b"));
}

TEST_F(RoundPaceTest, WhatPromisesMoreIsStillReviewed) {
    options_.rounds = 1;
    steps_.plans = {{"o", "ab"}};
    steps_.glances = {{"o>oa", 4}, {"o>ob", 2}};
    options_.beam = 2;
    steps_.verdicts = {{"o>oa", {VerdictStatus::Inconclusive, 1}},
                       {"o>ob", {VerdictStatus::Faster, 2}}};
    const Optimization found = run();
    EXPECT_THAT(steps_.reviews, ElementsAre("o>oa", "o>ob"));
    EXPECT_THAT(found.skills, ElementsAre("b"));
}

TEST_F(RoundPaceTest, TheNextRoundIsPreparedWhileTheLeaderIsReviewed) {
    options_.rounds = 2;
    steps_.plans = {{"o", "a"}, {"oa", "bc"}};
    steps_.glances = {{"o>oa", 3}, {"oa>oab", 1.3}, {"oa>oac", 0.9}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 3}},
                       {"oa>oab", {VerdictStatus::Faster, 1.3}},
                       {"o>oab", {VerdictStatus::Faster, 3.9}}};
    steps_.duringReview = [&](const std::string& text) {
        if (text == "oa")
            EXPECT_TRUE(awaitEntry(steps_.looks, "oa>oac"));
    };
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_THAT(steps_.drafts, ElementsAre("o>a", "oa>b", "oa>c")) << "once each";
    EXPECT_THAT(steps_.looks, ElementsAre("o>oa", "oa>oab", "oa>oac"));
    EXPECT_EQ(found.attempts.at(2).verdict->status, VerdictStatus::Slower);
    EXPECT_THAT(steps_.reviews, Not(Contains("oa>oac")));
}

TEST_F(RoundPaceTest, WhatWasPreparedForATextThatIsWrongIsNotUsed) {
    options_.rounds = 2;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 3}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Incorrect, 0}}};
    steps_.duringReview = [&](const std::string&) {
        EXPECT_TRUE(awaitEntry(steps_.drafts, "oa>b"));
    };
    const Optimization found = run();
    EXPECT_FALSE(found.isImproved());
    EXPECT_THAT(steps_.reviews, ElementsAre("o>oa"));
}

TEST_F(RoundPaceTest, NothingIsPreparedWhereThereAreNoProcessorsForIt) {
    options_.rounds = 2;
    options_.slots = 1;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 3}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Incorrect, 0}}};
    (void)run();
    EXPECT_THAT(steps_.drafts, ElementsAre("o>a"));
}

TEST_F(RoundPaceTest, TheWholeIsReviewedBesideTheLastStep) {
    options_.rounds = 2;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 2}, {"oa>oab", 1.5}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 2}},
                       {"oa>oab", {VerdictStatus::Faster, 1.5}},
                       {"o>oab", {VerdictStatus::Faster, 3}}};
    std::atomic<int> reviewsOfBoth = 0;
    steps_.duringReview = [&](const std::string& text) {
        if (text != "oab")
            return;
        ++reviewsOfBoth;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (reviewsOfBoth < 2 && std::chrono::steady_clock::now() < limit)
            std::this_thread::yield();
        EXPECT_EQ(reviewsOfBoth, 2);
    };
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_EQ(found.verdict->speedup, 3) << "of the whole, against the original";
    EXPECT_EQ(std::ranges::count(steps_.reviews, "o>oab"), 1) << "once";
}

TEST_F(RoundPaceTest, AStepWhoseWholeIsWrongIsDroppedHoweverEarlyThatWasSeen) {
    options_.rounds = 2;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 2}, {"oa>oab", 1.5}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 2}},
                       {"oa>oab", {VerdictStatus::Faster, 1.5}},
                       {"o>oab", {VerdictStatus::Incorrect, 0}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_THAT(found.attempts.back().decision, HasSubstr("all steps together are incorrect"));
}

} // namespace
} // namespace kernelskill::engine
