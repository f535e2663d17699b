/// The search alone: what it reviews, keeps, drops and remembers, and when it ends.
#include "tests/engine/search/search_fixture.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OptimizationSearchTest : public SearchFixture {};

TEST_F(OptimizationSearchTest, ImprovementsCompoundAndTheirSumIsReviewed) {
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"ob", 90}, {"oab", 40}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_EQ(found.edits.at("a.cu").at(0), (analysis::TextEdit{{1, 1}, "ab"}));
    EXPECT_THAT(steps_.sums, ::testing::Contains("o>oab"));
    EXPECT_THAT(steps_.sums, ::testing::Not(::testing::Contains("oa>oab")));
    ASSERT_TRUE(found.best);
    EXPECT_EQ(found.best->cost->seconds.high, 40);
    EXPECT_EQ(found.base.cost->seconds.high, 100);
    EXPECT_NEAR(*found.modelledGain, std::sqrt(100.0 / 40), 1e-12);
    EXPECT_EQ(found.verdict->status, VerdictStatus::Unmeasured);
    EXPECT_FALSE(found.verdict->speedup);
    ASSERT_TRUE(found.remaining);
    EXPECT_EQ(found.remaining->distance, (Interval{1, 40})); // The best version's.
}

TEST_F(OptimizationSearchTest, OfWhatWasMeasuredTheBestAloneIsRunAgain) {
    options_.measure = true;
    options_.rounds = 1;
    steps_.everywhere = "abc";
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.5}},
                       {"o>ob", {VerdictStatus::Faster, 2}},
                       {"o>oc", {VerdictStatus::Faster, 1.2}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("b"));
    EXPECT_THAT(steps_.assessed, ElementsAre("o", "ob"));
    EXPECT_FALSE(found.attempts[0].after);
    EXPECT_TRUE(found.attempts[0].isKept);
    EXPECT_TRUE(found.attempts[1].after);
    ASSERT_TRUE(found.best && found.best->cost) << "what is left is the best version's";
}

/// Waits until a text has been assessed. False after ten seconds.
bool awaitAssessment(const FakeSteps& steps, const std::string& text) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < limit) {
        {
            const std::scoped_lock lock(steps.mutex);
            if (std::ranges::find(steps.assessed, text) != steps.assessed.end())
                return true;
        }
        std::this_thread::yield();
    }
    return false;
}

TEST_F(OptimizationSearchTest, TheFastestAtAGlanceIsRunWhileItIsReviewed) {
    options_.measure = true;
    options_.rounds = 1;
    steps_.everywhere = "ab";
    steps_.glances = {{"o>oa", 1.5}, {"o>ob", 2}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.5}},
                       {"o>ob", {VerdictStatus::Faster, 2}}};
    steps_.duringReview = [&](const std::string&) { EXPECT_TRUE(awaitAssessment(steps_, "ob")); };
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("b"));
    EXPECT_THAT(steps_.assessed, ElementsAre("o", "ob")) << "once";
    EXPECT_TRUE(found.attempts[1].after);
    EXPECT_TRUE(found.best && found.best->bottleneck);
}

TEST_F(OptimizationSearchTest, WhatWasRunAheadAndIsWrongIsNoVersion) {
    options_.measure = true;
    options_.rounds = 1;
    steps_.everywhere = "ab";
    steps_.glances = {{"o>oa", 1.5}, {"o>ob", 2}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.5}},
                       {"o>ob", {VerdictStatus::Incorrect, 0}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_THAT(steps_.assessed, ::testing::UnorderedElementsAre("o", "ob", "oa"));
    EXPECT_TRUE(found.attempts[0].after);
    EXPECT_FALSE(found.attempts[1].after);
}

TEST_F(OptimizationSearchTest, WhatIsNotTheBestAtAGlanceIsNotRunAhead) {
    options_.measure = true;
    options_.rounds = 1;
    steps_.everywhere = "ab";
    steps_.glances = {{"o>oa", 0.9}};
    steps_.verdicts = {{"o>ob", {VerdictStatus::Incorrect, 0}}};
    (void)run();
    EXPECT_THAT(steps_.assessed, ElementsAre("o"));
}

TEST_F(OptimizationSearchTest, NothingIsRunAheadWhereNoTimeIsLeftForAnotherRound) {
    options_.measure = true;
    options_.rounds = 1;
    options_.time = std::chrono::seconds(4);
    steps_.everywhere = "a";
    steps_.glances = {{"o>oa", 1.5}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Incorrect, 0}}};
    (void)run();
    EXPECT_THAT(steps_.assessed, ElementsAre("o"));
}

TEST_F(OptimizationSearchTest, ABestVersionIsRunWhileItsSumIsReviewed) {
    options_.measure = true;
    options_.rounds = 2;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.5}},
                       {"oa>oab", {VerdictStatus::Faster, 1.5}},
                       {"o>oab", {VerdictStatus::Faster, 2}}};
    bool isSumReviewed = false;
    steps_.duringReview = [&](const std::string& text) {
        if (std::ranges::find(steps_.reviews, "o>" + text) == steps_.reviews.end() || text == "oa")
            return;
        isSumReviewed = true;
        EXPECT_TRUE(awaitAssessment(steps_, "oab"));
    };
    const Optimization found = run();
    EXPECT_TRUE(isSumReviewed);
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_THAT(steps_.assessed, ElementsAre("o", "oa", "oab"));
}

TEST_F(OptimizationSearchTest, WhatWasMeasuredIsKeptEvenIfItCannotBeRunAgain) {
    options_.measure = true;
    steps_.plans = {{"o", "a"}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.5}}};
    steps_.failing = "oa";
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_EQ(found.verdict->speedup, 1.5);
}

TEST_F(OptimizationSearchTest, DraftsOfARoundAreMadeAtOnce) {
    if (std::thread::hardware_concurrency() < 2)
        GTEST_SKIP() << "one core";
    steps_.everywhere = "ab";
    std::atomic<int> begun = 0;
    steps_.duringDraft = [&](const std::stop_token&) {
        ++begun;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (begun < 2 && std::chrono::steady_clock::now() < limit)
            std::this_thread::yield();
        EXPECT_GE(begun, 2);
    };
    options_.rounds = 1;
    const Optimization found = run();
    EXPECT_EQ(found.attempts[0].plan.offer.skillId, "a") << "in the order of the plans";
    EXPECT_EQ(found.attempts[1].plan.offer.skillId, "b");
}

TEST_F(OptimizationSearchTest, WhatIsWorseOrNoBetterIsNeverTheBest) {
    steps_.fitsOnly = {'a', 'b', 'c'};
    steps_.everywhere = "abc";
    steps_.costs = {{"oa", 100}, {"ob", 150}, {"oc", 99}};
    const Optimization found = run();
    EXPECT_FALSE(found.isImproved());
    EXPECT_THAT(found.edits, IsEmpty());
    EXPECT_EQ(found.attempts.size(), 3u);
    EXPECT_EQ(found.stop, StopReason::NoPlanLeft);
    ASSERT_TRUE(found.remaining);
    EXPECT_EQ(found.remaining->distance, (Interval{1, 100}));
}

TEST_F(OptimizationSearchTest, AStepWhoseSumIsWrongIsDroppedAndTheBestBeforeItStays) {
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"oab", 20}, {"oaa", 90}};
    steps_.verdicts[{"o>oab"}] = {VerdictStatus::Incorrect, 0};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a"));
    const auto step = std::ranges::find_if(found.attempts, [](const Attempt& attempt) {
        return attempt.from == 1 && attempt.plan.offer.skillId == "b";
    });
    ASSERT_NE(step, found.attempts.end());
    EXPECT_FALSE(step->isKept);
    EXPECT_EQ(step->verdict->status, VerdictStatus::Unmeasured) << "alone it was correct";
    EXPECT_EQ(step->sum->status, VerdictStatus::Incorrect);
    EXPECT_THAT(step->decision, HasSubstr("all steps together are incorrect"));
}

TEST_F(OptimizationSearchTest, WhereItIsMeasuredOnlyTheMeasurementCounts) {
    options_.measure = true;
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 1}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Slower, 0.9}},
                       {"o>ob", {VerdictStatus::Faster, 1.5}},
                       {"ob>oba", {VerdictStatus::Faster, 1.2}},
                       {"o>oba", {VerdictStatus::Faster, 1.7}},
                       {"ob>obb", {VerdictStatus::Inconclusive, 1.0}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("b", "a"));
    EXPECT_EQ(found.verdict->speedup, 1.7) << "of the sum, as measured, not a product";
    EXPECT_FALSE(found.modelledGain);
}

TEST_F(OptimizationSearchTest, APlanThatCannotBeTimedAtAGlanceHasItsTurnBesideThoseThatGain) {
    options_.measure = true;
    options_.beam = 2;
    options_.rounds = 1;
    steps_.plans = {{"o", "abcde"}};
    steps_.glances = {{"o>ob", 1.2}, {"o>oc", 1.5}, {"o>od", 1.3}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 9}},
                       {"o>oc", {VerdictStatus::Faster, 1.4}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_THAT(steps_.reviews, ::testing::UnorderedElementsAre("o>oc", "o>oa"));
}

TEST_F(OptimizationSearchTest, OptionsOfASkillDoNotTakeThePlacesOfOtherSkills) {
    options_.measure = true;
    options_.beam = 2;
    options_.rounds = 1;
    steps_.plans = {{"o", "ab"}};
    steps_.options = {{'a', {1, 2, 3}}};
    steps_.glances = {{"o>oa1", 1.2}, {"o>oa2", 1.4}, {"o>oa3", 1.3}, {"o>ob", 1.1}};
    steps_.verdicts = {{"o>oa2", {VerdictStatus::Faster, 1.4}},
                       {"o>ob", {VerdictStatus::Faster, 1.1}}};
    const Optimization found = run();
    EXPECT_THAT(steps_.reviews, ::testing::UnorderedElementsAre("o>oa2", "o>ob"));
}

TEST_F(OptimizationSearchTest, OnlyTheFastestAtAGlanceAreReviewed) {
    options_.measure = true;
    options_.beam = 1;
    steps_.plans = {{"o", "abcd"}, {"oc", ""}};
    steps_.glances = {{"o>oa", 0.9}, {"o>ob", 1.2}, {"o>oc", 1.5}, {"o>od", 1.0}};
    steps_.verdicts = {{"o>oc", {VerdictStatus::Faster, 1.4}},
                       {"o>ob", {VerdictStatus::Faster, 1.2}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("c"));
    EXPECT_EQ(steps_.reviews.front(), "o>oc");
    EXPECT_THAT(steps_.reviews, ::testing::Not(::testing::Contains("o>oa")));
    EXPECT_THAT(steps_.reviews, ::testing::Not(::testing::Contains("o>od")));
    ASSERT_GE(found.attempts.size(), 5u);
    EXPECT_EQ(found.attempts[0].verdict->status, VerdictStatus::Slower);
    EXPECT_THAT(found.attempts[1].decision, HasSubstr("left for later"));
    EXPECT_EQ(found.attempts[4].plan.offer.skillId, "b") << "tried when nothing better is left";
    EXPECT_EQ(found.attempts[4].round, 2);
}

TEST_F(OptimizationSearchTest, WhatIsFarBehindTheBestVersionIsNotReviewed) {
    options_.measure = true;
    options_.beam = 1;
    steps_.plans = {{"o", "abc"}, {"oa", ""}, {"oc", ""}};
    steps_.glances = {{"o>oa", 3.0}, {"o>ob", 1.2}, {"o>oc", 2.6}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 3.0}},
                       {"o>oc", {VerdictStatus::Faster, 2.6}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_THAT(steps_.reviews, ElementsAre("o>oa", "o>oc"));
    EXPECT_THAT(logOf(found), HasSubstr("b - not reviewed: 1.200x of the original at a glance, "
                                        "where the best version is 3.000x"));
}

TEST_F(OptimizationSearchTest, AnEditOfTheBestVersionIsNotReviewedAgainOnAStep) {
    options_.measure = true;
    steps_.plans = {{"o", "ab"}, {"oa", ""}, {"ob", "ac"}};
    steps_.hygiene = {'b'};
    steps_.glances = {{"o>oa", 2.0}, {"o>ob", 1.0}, {"o>oba", 2.01}, {"o>obc", 2.01}};
    steps_.inconclusive = {"o>ob"};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 2.0}}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_THAT(steps_.looks, ::testing::Contains("o>oba"));
    EXPECT_THAT(steps_.reviews, ::testing::Not(::testing::Contains("o>oba")));
    EXPECT_THAT(steps_.reviews, ::testing::Contains("o>obc")) << "no edit of the best version";
}

TEST_F(OptimizationSearchTest, SaysWhyWhatIsLeftForLaterWasNotTimed) {
    options_.measure = true;
    options_.beam = 2;
    options_.rounds = 1;
    steps_.plans = {{"o", "abc"}};
    steps_.glances = {{"o>oc", 1.5}};
    steps_.verdicts = {{"o>oc", {VerdictStatus::Faster, 1.4}}};
    const Optimization found = run();
    ASSERT_GE(found.attempts.size(), 3u);
    EXPECT_EQ(found.attempts[1].decision, "others are known to gain, so it is left for later; it "
                                          "was not timed at a glance: no glance is known");
}

TEST_F(OptimizationSearchTest, WhatIsSlowerAtAGlanceNeedsNoReviewAndIsRemembered) {
    options_.measure = true;
    steps_.everywhere = "a";
    steps_.glances = {{"o>oa", 0.5}};
    EXPECT_FALSE(run().isImproved());
    EXPECT_THAT(steps_.reviews, IsEmpty());
    EXPECT_EQ(steps_.memory.count("o>a"), 1u);
}

TEST_F(OptimizationSearchTest, ABeamTriesSeveralPlansOfARoundBestVersionFirst) {
    options_.beam = 2;
    steps_.plans = {{"o", "abc"}, {"oa", "d"}, {"ob", "e"}};
    steps_.costs = {{"oa", 50}, {"ob", 40}};
    const Optimization found = run();
    std::vector<std::string> order;
    for (const Attempt& attempt : found.attempts)
        order.push_back(
            fmt::format("{}:{}>{}", attempt.round, attempt.from, attempt.plan.offer.skillId));
    EXPECT_THAT(order, ElementsAre("1:0>a", "1:0>b", "2:2>e", "2:1>d", "3:0>c"));
}

TEST_F(OptimizationSearchTest, CodeThatWasSeenIsNotReviewedAgain) {
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"ob", 50}, {"oab", 25}, {"oba", 25}};
    const Optimization found = run();
    EXPECT_EQ(std::ranges::count(steps_.reviews, "ob>oba"), 0) << "oab is the same code";
    EXPECT_THAT(logOf(found), HasSubstr("makes code that this search has already"));
}

TEST_F(OptimizationSearchTest, WhatFailedBeforeIsRuledOutAndSaid) {
    steps_.fitsOnly = {'a', 'b'};
    steps_.everywhere = "ab";
    steps_.failedBefore = {'a'};
    const Optimization found = run();
    EXPECT_THAT(steps_.reviews, ElementsAre("o>ob"));
    ASSERT_EQ(found.attempts.at(0).ruledOut.size(), 2u);
    EXPECT_EQ(found.attempts.at(0).ruledOut.at(1).skill, "a");
}

TEST_F(OptimizationSearchTest, ASkillThatCannotMakeItsEditIsSaidAndCostsNoReview) {
    steps_.everywhere = "!";
    const Optimization found = run();
    ASSERT_EQ(found.attempts.size(), 1u);
    EXPECT_FALSE(found.attempts[0].verdict);
    EXPECT_THAT(found.attempts[0].decision, HasSubstr("not this loop"));
    EXPECT_THAT(steps_.reviews, IsEmpty());
}

TEST_F(OptimizationSearchTest, StopsWhereNothingIsLeftToTry) {
    EXPECT_EQ(run().stop, StopReason::NoPlanLeft);
    EXPECT_EQ(run().rounds, 0);
    EXPECT_EQ(run().ruledOut.at(0).skill, "z");
}

TEST_F(OptimizationSearchTest, StopsAtTheRoofline) {
    steps_.everywhere = "ab";
    steps_.costs = {{"o", 1.1}};
    const Optimization found = run();
    EXPECT_EQ(found.stop, StopReason::AtRoofline);
    EXPECT_THAT(found.attempts, IsEmpty());
    steps_.costs = {{"oa", 1.2}, {"oab", 0.5}};
    EXPECT_THAT(run().skills, ElementsAre("a")) << "reached after a step";
}

TEST_F(OptimizationSearchTest, StopsWhenItHasConverged) {
    steps_.fitsOnly = {'a', 'b', 'c', 'd', 'e', 'f'};
    options_.beam = 1;
    steps_.everywhere = "abcdef";
    const Optimization found = run();
    EXPECT_EQ(found.stop, StopReason::Converged);
    EXPECT_EQ(found.rounds, 2);
}

TEST_F(OptimizationSearchTest, StopsWhenRoundsAreSpentWithTheBestSoFar) {
    options_.rounds = 1;
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"oab", 20}};
    const Optimization found = run();
    EXPECT_EQ(found.stop, StopReason::RoundsSpent);
    EXPECT_THAT(found.skills, ElementsAre("a"));
}

TEST_F(OptimizationSearchTest, StopsWhenTimeIsSpentAndDropsWhatIsUnderWay) {
    options_.time = std::chrono::seconds(0);
    steps_.everywhere = "a";
    const Optimization none = run();
    EXPECT_EQ(none.stop, StopReason::TimeSpent);
    options_.time = std::chrono::seconds(1);
    steps_.costs = {{"oa", 50}, {"oaa", 20}};
    steps_.duringReview = [](const std::string& text) {
        if (text == "oaa")
            std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    };
    const Optimization found = run();
    EXPECT_EQ(found.stop, StopReason::TimeSpent);
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_EQ(found.attempts.size(), 1u);
}

TEST_F(OptimizationSearchTest, FinishesTheMostPromisingReviewWhereItHasNothingElse) {
    options_.time = std::chrono::seconds(1);
    options_.measure = true;
    steps_.plans = {{"o", "ab"}, {"ob", "c"}};
    steps_.glances = {{"o>oa", 1.2}, {"o>ob", 1.5}, {"ob>obc", 1.5}};
    steps_.verdicts = {{"o>oa", {VerdictStatus::Faster, 1.2}},
                       {"o>ob", {VerdictStatus::Faster, 1.5}},
                       {"ob>obc", {VerdictStatus::Faster, 1.5}}};
    steps_.duringReview = [](const std::string&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1200));
    };
    const Optimization found = run();
    EXPECT_EQ(found.stop, StopReason::TimeSpent);
    EXPECT_THAT(found.skills, ElementsAre("b"));
    EXPECT_EQ(found.attempts.size(), 1u) << "what is less promising ends with the time";
}

TEST_F(OptimizationSearchTest, ADraftThatTakesForEverEndsWithTheTime) {
    options_.time = std::chrono::seconds(1);
    steps_.everywhere = "a";
    steps_.duringDraft = [](const std::stop_token& stop) {
        for (int waited = 0; waited < 2000 && !stop.stop_requested(); ++waited)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    const auto begin = std::chrono::steady_clock::now();
    const Optimization found = run();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_EQ(found.stop, StopReason::TimeSpent);
    EXPECT_THAT(found.attempts, IsEmpty()) << "its result is unknown";
}

TEST_F(OptimizationSearchTest, WhatIsDroppedHasACauseAlsoInTheNextRun) {
    steps_.fitsOnly = {'a', 'b'};
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"oab", 20}, {"oaa", 90}};
    steps_.verdicts = {{"o>ob", {VerdictStatus::Incorrect, 0}},
                       {"o>oab", {VerdictStatus::Incorrect, 0}}};
    for (int i = 0; i < 2; ++i) {
        const Optimization found = run();
        ASSERT_GE(found.attempts.size(), 3u);
        for (const Attempt& attempt : found.attempts) {
            if (attempt.isKept || !attempt.verdict) {
                EXPECT_FALSE(attempt.diagnosis);
                continue;
            }
            ASSERT_TRUE(attempt.diagnosis) << attempt.decision;
            const std::string text = attempt.from == 0 ? "o" : "oa";
            const bool isSum = text == "oa" && attempt.plan.offer.skillId == "b";
            EXPECT_EQ(attempt.diagnosis->cause,
                      isSum ? "cause of o>oab"
                            : fmt::format("cause of {0}>{0}{1}", text, attempt.plan.offer.skillId));
        }
        restart();
    }
}

TEST_F(OptimizationSearchTest, CancellingLeavesTheBestSoFar) {
    options_.beam = 1;
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"oaa", 25}, {"oab", 10}};
    std::stop_source stop;
    steps_.duringReview = [&](const std::string& text) {
        if (text == "oaa")
            stop.request_stop();
    };
    const Optimization found = run(stop.get_token());
    EXPECT_EQ(found.stop, StopReason::Cancelled);
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_FALSE(steps_.memory.contains("oa>a")) << "it was not decided";
}

TEST_F(OptimizationSearchTest, APlanThatIsStoppedDoesNotSayThatNoneIsLeft) {
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}};
    std::stop_source stop;
    int plans = 0;
    steps_.duringPlan = [&] {
        if (++plans == 2)
            stop.request_stop();
    };
    const Optimization found = run(stop.get_token());
    EXPECT_EQ(found.stop, StopReason::Cancelled);
    EXPECT_THAT(found.skills, ElementsAre("a"));
    EXPECT_FALSE(found.remaining) << "what would help is not known";
}

TEST_F(OptimizationSearchTest, TheOriginalsErrorIsTheAnswer) {
    steps_.failing = "o";
    auto found = OptimizationSearch(steps_, options_).run(textOf("o"), {}, {});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().what, "it hangs");
}

TEST_F(OptimizationSearchTest, AnEndBeforeTheOriginalRanIsNoErrorEither) {
    steps_.failing = "o";
    std::stop_source stop;
    stop.request_stop();
    const Optimization found = run(stop.get_token());
    EXPECT_EQ(found.stop, StopReason::Cancelled);
    EXPECT_FALSE(found.isImproved());
}

TEST_F(OptimizationSearchTest, AnotherRunRepeatsNoReviewButThatOfTheSum) {
    steps_.everywhere = "abc";
    steps_.costs = {{"oa", 50}, {"oab", 20}};
    const Optimization first = run();
    restart();
    const Optimization second = run();
    EXPECT_THAT(steps_.reviews, ElementsAre("o>oab"));
    EXPECT_EQ(second.skills, first.skills);
    EXPECT_EQ(second.edits, first.edits);
    EXPECT_TRUE(second.verdict) << "of this run";
    for (const Attempt& attempt : second.attempts)
        EXPECT_TRUE(attempt.isRemembered || !attempt.verdict) << attempt.decision;
}

TEST_F(OptimizationSearchTest, AKilledRunGoesOnWhereItWas) {
    options_.rounds = 1;
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"oab", 20}};
    run();
    restart();
    options_.rounds = 8;
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_EQ(std::ranges::count(steps_.reviews, "o>oa"), 0);
    EXPECT_EQ(std::ranges::count(steps_.reviews, "oa>oab"), 1);
    EXPECT_EQ(std::ranges::count(steps_.reviews, "o>oab"), 1);
}

TEST_F(OptimizationSearchTest, WhatMemoryPraisesIsStillReviewedBeforeItIsTheBest) {
    steps_.everywhere = "a";
    steps_.costs = {{"oa", 50}};
    steps_.verdicts["o>oa"] = {VerdictStatus::Incorrect, 0};
    Verdict praise;
    praise.status = VerdictStatus::Unmeasured;
    steps_.memory["o>a"] = {"yesterday", praise, true};
    const Optimization found = run();
    EXPECT_FALSE(found.isImproved());
    EXPECT_THAT(found.edits, IsEmpty());
}

TEST_F(OptimizationSearchTest, WithoutShortTermMemoryPlansAreRepeated) {
    steps_.fitsOnly = {'a'};
    options_.usesShortTermMemory = false;
    options_.beam = 1;
    steps_.everywhere = "a";
    const Optimization found = run();
    EXPECT_EQ(found.stop, StopReason::Converged);
    EXPECT_THAT(steps_.reviews, ElementsAre("o>oa", "o>oa"));
}

TEST_F(OptimizationSearchTest, TheSameInputsGiveTheSameLogHoweverManyWorkAtOnce) {
    steps_.everywhere = "abcde";
    steps_.costs = {{"oa", 60},  {"ob", 50},  {"oc", 55},   {"oab", 40}, {"oba", 40},
                    {"obd", 45}, {"oce", 30}, {"obac", 20}, {"oced", 28}};
    steps_.duringReview = [](const std::string& text) {
        std::this_thread::sleep_for(std::chrono::microseconds((text.back() * 7919) % 900));
    };
    std::set<std::string> logs;
    for (const int slots : {1, 2, 3, 5, 3, 2}) {
        steps_.memory.clear();
        options_.slots = slots;
        options_.beam = 3;
        logs.insert(logOf(run()));
    }
    EXPECT_EQ(logs.size(), 1u) << *logs.begin() << "\n---\n" << *logs.rbegin();
}

} // namespace
} // namespace kernelskill::engine
