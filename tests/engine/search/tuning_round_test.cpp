/// The round at the end of a search, which tries other options of the edits of the best version.
#include "engine/search/model_steps.h"
#include "engine/search/tuned_drafts.h"
#include "tests/engine/search/search_fixture.h"

#include <gmock/gmock.h>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class TuningRoundTest : public SearchFixture {
protected:
    /// a1 is the faster of two alone, and together with b it is a2.
    TuningRoundTest() {
        options_.measure = true;
        steps_.options = {{'a', {1, 2}}};
        steps_.plans = {{"o", "a"}, {"oa1", "b"}, {"oa2", "b"}};
        steps_.verdicts = {
            {"o>oa1", {VerdictStatus::Faster, 1.5}},     {"o>oa2", {VerdictStatus::Slower, 0.3}},
            {"oa1>oa1b", {VerdictStatus::Faster, 1.2}},  {"o>oa1b", {VerdictStatus::Faster, 1.8}},
            {"oa1b>oa2b", {VerdictStatus::Faster, 1.3}}, {"o>oa2b", {VerdictStatus::Faster, 2.3}}};
    }
};

TEST_F(TuningRoundTest, TriesAnotherOptionOfAnEarlierEdit) {
    const Optimization found = run();
    EXPECT_EQ(found.edits.at("a.cu").at(0).newText, "a2b");
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_EQ(found.verdict->speedup, 2.3) << "of the whole, against the original";
    EXPECT_EQ(found.stop, StopReason::NoPlanLeft);
    const Attempt& tuned = found.attempts.back();
    EXPECT_EQ(tuned.plan.offer.skillId, "a");
    EXPECT_EQ(tuned.plan.offer.option, 2);
    EXPECT_EQ(tuned.from, 2);
    EXPECT_EQ(tuned.version, 3);
    EXPECT_THAT(tuned.plan.why, HasSubstr("another option"));
}

TEST_F(TuningRoundTest, KeepsTheBestVersionWhereNoOptionIsFaster) {
    steps_.verdicts["oa1b>oa2b"] = {VerdictStatus::Inconclusive, 1.0};
    const Optimization found = run();
    EXPECT_EQ(found.edits.at("a.cu").at(0).newText, "a1b");
    EXPECT_EQ(found.verdict->speedup, 1.8);
    EXPECT_EQ(std::ranges::count(steps_.reviews, "oa1b>oa2b"), 1);
}

TEST_F(TuningRoundTest, KeepsTheBestVersionWhereTheWholeIsWrong) {
    steps_.verdicts["o>oa2b"] = {VerdictStatus::Incorrect, 0};
    const Optimization found = run();
    EXPECT_EQ(found.edits.at("a.cu").at(0).newText, "a1b");
    EXPECT_THAT(found.attempts.back().decision, HasSubstr("all steps together are incorrect"));
}

TEST_F(TuningRoundTest, LooksAtAGlanceFirst) {
    steps_.glances = {{"oa1b>oa2b", 0.9}};
    EXPECT_EQ(run().edits.at("a.cu").at(0).newText, "a1b");
    EXPECT_THAT(steps_.reviews, Not(Contains("oa1b>oa2b")));
}

TEST_F(TuningRoundTest, GoesOnAroundWhatItFinds) {
    steps_.options = {{'a', {1, 2}}, {'b', {3, 4}}};
    steps_.verdicts = {
        {"o>oa1", {VerdictStatus::Faster, 1.5}},     {"o>oa2", {VerdictStatus::Slower, 0.3}},
        {"oa1>oa1b3", {VerdictStatus::Faster, 1.2}}, {"oa1>oa1b4", {VerdictStatus::Slower, 0.3}},
        {"o>oa1b3", {VerdictStatus::Faster, 1.8}},   {"oa1b3>oa2b3", {VerdictStatus::Faster, 1.1}},
        {"o>oa2b3", {VerdictStatus::Faster, 2.0}},   {"oa2b3>oa2b4", {VerdictStatus::Faster, 1.4}},
        {"o>oa2b4", {VerdictStatus::Faster, 2.8}}};
    const Optimization found = run();
    EXPECT_EQ(found.edits.at("a.cu").at(0).newText, "a2b4");
    EXPECT_EQ(found.verdict->speedup, 2.8);
}

TEST_F(TuningRoundTest, ComesAfterRoundsThatGainNothing) {
    steps_.plans["oa1b"] = steps_.plans["oa2b"] = "cdefgh";
    options_.beam = 2;
    const Optimization found = run();
    EXPECT_EQ(found.edits.at("a.cu").at(0).newText, "a2b");
    EXPECT_EQ(found.stop, StopReason::Converged);
}

TEST_F(TuningRoundTest, LeavesOutStepsThatALaterEditDoesNotFit) {
    steps_.plans["oa2"] = "";
    const Optimization found = run();
    EXPECT_EQ(found.edits.at("a.cu").at(0).newText, "a1b");
    EXPECT_THAT(steps_.reviews, Not(Contains("oa1b>oa2")));
}

TEST_F(TuningRoundTest, RemembersNoOutcomeOfASkillOnTheVersionsText) {
    run();
    EXPECT_FALSE(steps_.memory.contains("oa1b>a"));
}

TEST_F(TuningRoundTest, CountsAsARound) {
    options_.rounds = 2;
    EXPECT_EQ(run().edits.at("a.cu").at(0).newText, "a1b");
}

TEST(TunedDrafts, DoNotAskALanguageModelAgain) {
    FakeSteps steps;
    steps.options = {{'a', {1, 2}}, {'b', {3, 4}}};
    steps.everywhere = "ab";
    const auto offerOf = [](std::string skill, int option) {
        skills::Offer offer;
        offer.skillId = std::move(skill);
        offer.option = option;
        return offer;
    };
    const std::vector<AppliedStep> path{
        {textOf("o"), {}, offerOf("a", 1), {}},
        {textOf("oa1"), {}, offerOf(std::string(languageModelSkill), 0), {}},
        {textOf("oa1m"), {}, offerOf("b", 3), {}}};
    std::set<std::uint64_t> known;
    const std::vector<TunedDraft> tuned = tunedDrafts(steps, path, textOf("oa1mb3"), known, {});
    ASSERT_EQ(tuned.size(), 1u);
    EXPECT_EQ(tuned[0].draft.text.program.text, "oa1mb4");
    EXPECT_EQ(tuned[0].path.size(), 3u);
    EXPECT_THAT(steps.drafts, ElementsAre("oa1m>b"));
    EXPECT_THAT(tunedDrafts(steps, path, textOf("oa1mb3"), known, {}), ::testing::IsEmpty())
        << "code that is known already";
}

} // namespace
} // namespace kernelskill::engine
