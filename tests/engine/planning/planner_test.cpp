#include "engine/planning/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stop_token>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Fits, or refuses by a gate.
class FakeSkill final : public skills::Skill {
public:
    FakeSkill(std::string id, std::string gate) : id_(std::move(id)), gate_(std::move(gate)) {}
    [[nodiscard]] std::string_view id() const override { return id_; }
    [[nodiscard]] std::expected<skills::Offer, skills::Refusal>
    prepare(const skills::SkillContext&) const override {
        if (whenAsked)
            whenAsked();
        if (!gate_.empty())
            return std::unexpected(skills::Refusal{gate_, "because of line 3."});
        skills::Offer offer;
        offer.skillId = id_;
        offer.why = "Fact about " + id_;
        offer.gain = gain;
        offer.role = role;
        return offer;
    }
    [[nodiscard]] std::vector<skills::Offer>
    alternatives(const skills::SkillContext& context) const override {
        std::vector<skills::Offer> others;
        for (const int option : options) {
            others.push_back(*prepare(context));
            others.back().option = option;
        }
        return others;
    }
    [[nodiscard]] Result<analysis::EditSet> apply(const skills::SkillContext&,
                                                  const skills::Offer&) const override {
        return analysis::EditSet{};
    }

    std::optional<skills::ExpectedGain> gain;
    std::optional<skills::SkillRole> role;
    std::vector<int> options; ///< The options of the alternatives.
    std::function<void()> whenAsked;

private:
    std::string id_;
    std::string gate_;
};

class PlannerTest : public ::testing::Test {
protected:
    FakeSkill& add(const std::string& id, std::vector<std::string> bottlenecks,
                   std::string gate = "", skills::Numerics numerics = skills::Numerics::Exact) {
        auto skill = std::make_unique<FakeSkill>(id, std::move(gate));
        FakeSkill& added = *skill;
        catalogue_.push_back(std::move(skill));
        skills::SkillMetadata document;
        document.id = id;
        document.bottlenecks = std::move(bottlenecks);
        document.numerics = numerics;
        document.expectedGain = "gain of " + id;
        documents_.push_back(std::move(document));
        return added;
    }
    void remember(const std::string& skill, std::string status, std::uint64_t hash) {
        MemoryEntry entry;
        entry.kind = EntryKind::Verdict;
        entry.time = "2025-01-01T00:00:00.000Z";
        entry.skill = skill;
        entry.status = std::move(status);
        entry.kernelHash = hash;
        entry.detail = "y[3] differs";
        memory_.push_back(entry);
    }
    [[nodiscard]] Plan plan(bool wantsAlternatives = false,
                            const std::stop_token& stop = {}) const {
        Planner planner(catalogue_, documents_);
        return planner.plan(
            {file_, kernel_, features_, bottleneck_, {}, memory_, records_, wantsAlternatives},
            stop);
    }
    static std::vector<std::string> order(const Plan& plan) {
        std::vector<std::string> ids;
        for (const RankedSkill& ranked : plan.ranked)
            ids.push_back(ranked.offer.skillId);
        return ids;
    }

    std::vector<std::unique_ptr<skills::Skill>> catalogue_;
    std::vector<skills::SkillMetadata> documents_;
    analysis::FileModel file_;
    analysis::KernelModel kernel_;
    analysis::Features features_;
    Bottleneck bottleneck_;
    std::vector<MemoryEntry> memory_;
    std::vector<SkillRecord> records_;
};

TEST_F(PlannerTest, TheAnswerToTheBottleneckComesFirstThenThatToAFurtherOne) {
    bottleneck_.kind = BottleneckKind::BankConflicts;
    bottleneck_.others = {BottleneckKind::MemoryBandwidth};
    bottleneck_.rule = "measured-bank-conflicts";
    add("unrelated", {"compute"});
    add("further", {"memory-bandwidth"});
    add("answer", {"divergence", "bank-conflicts"});
    Plan result = plan();
    EXPECT_EQ(order(result), (std::vector<std::string>{"answer", "further", "unrelated"}));
    EXPECT_THAT(result.ranked[0].why, HasSubstr("Answers bank-conflicts"));
    EXPECT_THAT(result.ranked[0].why, HasSubstr("measured-bank-conflicts"));
    EXPECT_THAT(result.ranked[0].why, HasSubstr("Fact about answer."));
    EXPECT_EQ(result.ranked[0].expected, "gain of answer");
    EXPECT_THAT(result.ranked[2].why,
                HasSubstr("answers compute where the kernel is bank-conflicts"));
}

TEST_F(PlannerTest, ASkillWhoseGateDoesNotHoldIsRuledOutByName) {
    add("fits", {});
    add("refused", {}, "has-barrier-in-loop");
    Plan result = plan();
    EXPECT_EQ(order(result), std::vector<std::string>{"fits"});
    ASSERT_EQ(result.ruledOut.size(), 1u);
    EXPECT_EQ(result.ruledOut[0].skill, "refused");
    EXPECT_EQ(result.ruledOut[0].why, "has-barrier-in-loop: because of line 3.");
}

TEST_F(PlannerTest, ASkillWithoutItsDocumentIsRuledOut) {
    add("lonely", {});
    documents_.clear();
    Plan result = plan();
    EXPECT_TRUE(result.ranked.empty());
    ASSERT_EQ(result.ruledOut.size(), 1u);
    EXPECT_THAT(result.ruledOut[0].why, HasSubstr("SKILL.md"));
}

TEST_F(PlannerTest, AnExactSkillComesBeforeOneThatReorders) {
    add("reorders", {}, "", skills::Numerics::Reassociates);
    add("exact", {});
    EXPECT_EQ(order(plan()).front(), "exact");
}

TEST_F(PlannerTest, ASkillThatFailedOnThisVeryCodeComesLastAndSaysSo) {
    bottleneck_.kind = BottleneckKind::Compute;
    kernel_.normalisedHash = 42;
    add("failed", {"compute"});
    add("other", {});
    remember("failed", "incorrect", 42);
    Plan result = plan();
    EXPECT_EQ(order(result), (std::vector<std::string>{"other", "failed"}));
    EXPECT_TRUE(result.ranked[1].failedBefore);
    EXPECT_THAT(result.ranked[1].why, StartsWith("Failed on this very code before (2025-01-01"));
    EXPECT_THAT(result.ranked[1].why, HasSubstr("incorrect): y[3] differs"));
    EXPECT_FALSE(result.ranked[0].failedBefore);
}

TEST_F(PlannerTest, AFailureOnOtherCodeOrOneThatWasOvercomeCountsForNothing) {
    kernel_.normalisedHash = 42;
    add("first", {});
    add("second", {});
    remember("first", "incorrect", 41);
    remember("second", "invalid", 42);
    remember("second", "unmeasured", 42);
    Plan result = plan();
    EXPECT_FALSE(result.ranked[0].failedBefore);
    EXPECT_FALSE(result.ranked[1].failedBefore);
}

SkillRecord recordOf(std::string skill, int failed, int measured, int faster, double speedup) {
    SkillRecord record;
    record.skill = std::move(skill);
    record.kernels = failed + measured;
    record.failed = failed;
    record.measured = measured;
    record.faster = faster;
    record.meanSpeedup = speedup;
    record.worth = faster * std::min(1.0, std::log2(speedup));
    record.lastFailure = "no new hazard, n=1023";
    return record;
}

TEST_F(PlannerTest, ARecordDecidesBetweenEqualsAndSaysWhy) {
    add("poor", {});
    add("good", {});
    EXPECT_EQ(order(plan()).front(), "poor") << "nothing better is known";
    records_ = {recordOf("poor", 2, 8, 2, 1.1), recordOf("good", 0, 10, 10, 1.5)};
    const Plan result = plan();
    EXPECT_EQ(order(result).front(), "good");
    EXPECT_THAT(result.ranked[0].why, HasSubstr("measured faster on 10 of 10 kernels, 1.50x"));
    EXPECT_THAT(result.ranked[1].why,
                HasSubstr("its edit failed on 2 (last: no new hazard, n=1023)"));
    EXPECT_THAT(result.ranked[1].why, HasSubstr("for 10 of 20 tries"));
}

TEST_F(PlannerTest, WhatLongBroughtNothingFallsBehindTheAnswerToAFurtherBottleneckOnly) {
    bottleneck_.kind = BottleneckKind::Compute;
    bottleneck_.others = {BottleneckKind::BankConflicts};
    add("useless", {"compute"});
    add("further", {"bank-conflicts"});
    add("fits", {});
    records_ = {recordOf("useless", 0, 100, 0, 1.0)};
    EXPECT_EQ(order(plan()), (std::vector<std::string>{"further", "useless", "fits"}));
    records_ = {recordOf("useless", 0, 2, 0, 1.0)};
    EXPECT_EQ(order(plan()).front(), "useless") << "two kernels are not enough";
}

TEST_F(PlannerTest, AGainThatTheCodeShowsDecidesBetweenEqualsAndIsSaidFirst) {
    bottleneck_.kind = BottleneckKind::Occupancy;
    add("unknown", {"occupancy"});
    add("small", {"occupancy"}).gain = skills::ExpectedGain{1.25, "lanes over lanes"};
    add("large", {"occupancy"}).gain = skills::ExpectedGain{8, "sectors over sectors"};
    add("reorders", {"occupancy"}, "", skills::Numerics::Reassociates).gain =
        skills::ExpectedGain{1000, "a dream"};
    const Plan made = plan();
    EXPECT_EQ(order(made), (std::vector<std::string>{"large", "small", "unknown", "reorders"}));
    EXPECT_EQ(made.ranked[0].expected,
              "at most 8 times as fast (model: sectors over sectors). gain of large");
    EXPECT_EQ(made.ranked[2].expected, "gain of unknown");
}

TEST_F(PlannerTest, FurtherOptionsAreForWhoAsksAndComeBehindTheFirst) {
    bottleneck_.kind = BottleneckKind::Occupancy;
    add("tuning", {"occupancy"}).options = {128, 64};
    add("refused", {"occupancy"}, "gate").options = {};
    EXPECT_EQ(plan().ranked.size(), 1u);
    const Plan made = plan(true);
    ASSERT_EQ(made.ranked.size(), 3u);
    EXPECT_EQ(made.ranked[0].offer.option, 0);
    EXPECT_EQ(made.ranked[1].offer.option, 128);
    EXPECT_EQ(made.ranked[2].offer.option, 64);
    EXPECT_GT(made.ranked[1].score, made.ranked[2].score);
}

TEST_F(PlannerTest, HygieneComesLastAndAnswersNothing) {
    bottleneck_.kind = BottleneckKind::MemoryBandwidth;
    bottleneck_.others = {BottleneckKind::Compute};
    add("tidy", {"memory-bandwidth", "compute"});
    documents_.back().role = skills::SkillRole::Hygiene;
    add("fits", {"divergence"}, "", skills::Numerics::Reassociates);
    records_ = {recordOf("fits", 0, 100, 0, 1.0), recordOf("tidy", 0, 10, 10, 2)};
    const Plan result = plan();
    EXPECT_EQ(order(result), (std::vector<std::string>{"fits", "tidy"}));
    EXPECT_EQ(result.ranked[1].role, skills::SkillRole::Hygiene);
    EXPECT_EQ(result.ranked[1].answers, AnswersTo::Nothing);
    EXPECT_THAT(result.ranked[1].why, StartsWith("Good practice, no answer to memory-bandwidth"));
    EXPECT_EQ(bestAnswer(result), nullptr);
}

TEST_F(PlannerTest, AnOfferMayHaveARoleOfItsOwn) {
    bottleneck_.kind = BottleneckKind::Compute;
    add("tidy", {"compute"}).role = skills::SkillRole::Answer;
    documents_.back().role = skills::SkillRole::Hygiene;
    add("answer", {"compute"}).role = skills::SkillRole::Hygiene;
    const Plan result = plan();
    EXPECT_EQ(order(result), (std::vector<std::string>{"tidy", "answer"}));
    ASSERT_NE(bestAnswer(result), nullptr);
    EXPECT_EQ(bestAnswer(result)->offer.skillId, "tidy");
    EXPECT_EQ(bestAnswer(result)->answers, AnswersTo::Leading);
}

TEST_F(PlannerTest, TheBestAnswerDidNotFailAndAnswersABottleneck) {
    bottleneck_.kind = BottleneckKind::Compute;
    bottleneck_.others = {BottleneckKind::Divergence};
    kernel_.normalisedHash = 42;
    add("failed", {"compute"});
    add("fits", {"occupancy"});
    add("further", {"divergence"});
    remember("failed", "incorrect", 42);
    const Plan result = plan();
    ASSERT_NE(bestAnswer(result), nullptr);
    EXPECT_EQ(bestAnswer(result)->offer.skillId, "further");
    EXPECT_EQ(bestAnswer(result)->answers, AnswersTo::Further);
}

TEST_F(PlannerTest, TheOrderOfTheFieldDecidesWhatAnswersCodeOfAKnownShape) {
    bottleneck_.kind = BottleneckKind::UncoalescedAccess;
    bottleneck_.shapes = {"row-reduction"}; // row-per-warp, row-per-block, coalesced-access
    add("coalesced-access", {"uncoalesced-access"});
    add("block-constant", {"uncoalesced-access"});
    add("row-per-warp", {"uncoalesced-access"}, "", skills::Numerics::Reassociates);
    add("mine", {"uncoalesced-access"});
    documents_.back().origin = skills::SkillOrigin::User;
    const Plan result = plan();
    EXPECT_EQ(order(result), (std::vector<std::string>{"row-per-warp", "mine", "coalesced-access",
                                                       "block-constant"}));
    EXPECT_EQ(result.ranked[0].answers, AnswersTo::Leading);
    EXPECT_EQ(result.ranked[1].answers, AnswersTo::Leading) << "a skill of the user's counts";
    EXPECT_EQ(result.ranked[2].answers, AnswersTo::Further) << "a third choice";
    EXPECT_EQ(result.ranked[3].answers, AnswersTo::Nothing);
    EXPECT_THAT(result.ranked[3].why,
                HasSubstr("not what helps code of this shape (row-reduction)"));
}

TEST_F(PlannerTest, SaysThatAKernelIsAtItsLimitOnlyWhereItIs) {
    bottleneck_.kind = BottleneckKind::MemoryBandwidth;
    bottleneck_.shapes = {"streaming-wide"};
    bottleneck_.headroom = "medium";
    EXPECT_EQ(plan().remedies.at(0).method, "none");
    EXPECT_EQ(plan().remedies[0].why, "no usual method against memory-bandwidth fits its code");
    bottleneck_.headroom = noHeadroom;
    EXPECT_THAT(plan().remedies.at(0).why, HasSubstr("it is at its limit"));
    add("memory-level-parallelism", {"memory-bandwidth"});
    EXPECT_TRUE(plan().remedies.empty()) << "there is something to do";
}

TEST_F(PlannerTest, NamesWhatIsKnownToHelpAndIsNotOffered) {
    bottleneck_.kind = BottleneckKind::UncoalescedAccess;
    bottleneck_.shapes = {"ragged-rows"};
    add("row-per-warp", {"uncoalesced-access"}, "two-loops");
    documents_.back().title = "Give each row to a warp";
    add("coalesced-access", {"uncoalesced-access"});
    add("rows-in-turn", {"uncoalesced-access"});
    add("segmented-reduction", {"uncoalesced-access"});
    const Plan result = plan();
    ASSERT_EQ(result.remedies.size(), 2u) << "not those that are offered";
    EXPECT_EQ(result.remedies[0], (Remedy{"row-per-warp", "Give each row to a warp",
                                          "two-loops: because of line 3.", true}));
    EXPECT_EQ(result.remedies[1].method, "load-balancing");
    EXPECT_FALSE(result.remedies[1].isSkill);
    EXPECT_FALSE(result.remedies[1].why.empty());
}

TEST_F(PlannerTest, ASkillWhoseGateIsTheProofComesFirstWhereNoShapeIsKnown) {
    bottleneck_.kind = BottleneckKind::MemoryBandwidth;
    add("memory-level-parallelism", {"memory-bandwidth"});
    add("scalar-promotion", {"memory-bandwidth"}, "", skills::Numerics::Reassociates);
    EXPECT_EQ(order(plan()).front(), "scalar-promotion");
    bottleneck_.shapes = {"column-reduction"}; // split-reduction, memory-level-parallelism
    EXPECT_EQ(order(plan()).front(), "memory-level-parallelism");
}

TEST_F(PlannerTest, NamesNoSkillThatOnlyTheKindSpeaksFor) {
    bottleneck_.kind = BottleneckKind::MemoryBandwidth;
    add("vectorized-access", {"memory-bandwidth"}, "no-flat-index");
    EXPECT_TRUE(std::ranges::none_of(plan().remedies, &Remedy::isSkill));
    bottleneck_.shapes = {"streaming"};
    ASSERT_FALSE(plan().remedies.empty());
    EXPECT_EQ(plan().remedies[0].method, "vectorized-access");
}

TEST_F(PlannerTest, AsksNoFurtherSkillWhenItIsStopped) {
    std::stop_source stop;
    int asked = 0;
    for (const char* id : {"one", "two", "three"})
        add(id, {"compute"}).whenAsked = [&] {
            if (++asked == 2)
                stop.request_stop();
        };
    const Plan stopped = plan(true, stop.get_token());
    EXPECT_EQ(asked, 2);
    EXPECT_TRUE(stopped.ranked.empty());
    EXPECT_TRUE(stopped.ruledOut.empty()) << "it would say that the others do not fit";
}

} // namespace
} // namespace kernelskill::engine
