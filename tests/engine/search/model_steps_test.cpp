/// Tests which steps of an optimisation a language model adds, and which it leaves to the inner
/// ones.
#include "engine/comparison/program_difference.h"
#include "engine/search/model_steps.h"
#include "tests/engine/breakage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::RepairBench;
using ::testing::HasSubstr;

const std::string file = "__global__ void k(float* p) { p[threadIdx.x] += 1.0f; }\n";

class PlayedModel final : public LanguageModel {
public:
    [[nodiscard]] std::string name() const override { return "played"; }
    [[nodiscard]] Result<ModelReply> ask(const ModelPrompt& prompt, std::stop_token stop,
                                         const ReplyProgress&) override {
        if (stop.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", {}, {}});
        prompts.push_back(prompt.messages.front().text);
        ModelReply reply;
        reply.text = "Better.\n```\n__global__ void k(float* p) { p[threadIdx.x] += 1; }\n```\n";
        return reply;
    }
    std::vector<std::string> prompts;
};

/// One skill fits everywhere; its requests are recorded.
class OtherSteps final : public OptimizationSteps {
public:
    [[nodiscard]] Result<Standing> assess(const KernelVersion&, std::stop_token,
                                          const ProgressSink&) const override {
        return Standing{};
    }
    [[nodiscard]] Plan plan(const KernelVersion&, const Standing&,
                            const std::stop_token&) const override {
        Plan plan;
        plan.ranked.emplace_back().offer.skillId = "fits";
        plan.ranked.back().score = 2;
        return plan;
    }
    [[nodiscard]] Result<Draft> draft(const KernelVersion&, const skills::Offer& offer,
                                      std::stop_token) const override {
        return std::unexpected(Error{ErrorKind::Failed, "drafted " + offer.skillId, {}, {}});
    }
    [[nodiscard]] std::vector<Result<Screening>> screen(const KernelVersion&,
                                                        std::span<const Draft* const> drafts,
                                                        std::stop_token) const override {
        return noneTimed(drafts.size(), "no glance is known");
    }
    [[nodiscard]] Result<Verdict> review(const KernelVersion&, const analysis::EditSet&,
                                         const skills::Accuracy&, std::stop_token,
                                         const ProgressSink&) const override {
        Verdict verdict;
        verdict.status = VerdictStatus::Incorrect;
        return verdict;
    }
    [[nodiscard]] Result<Verdict> reviewSum(const KernelVersion& original,
                                            const analysis::EditSet& edits,
                                            const skills::Accuracy& accuracy,
                                            std::stop_token stop) const override {
        return review(original, edits, accuracy, std::move(stop), {});
    }
    [[nodiscard]] std::optional<RememberedOutcome>
    recall(const KernelVersion&, const skills::Offer&, const Draft&) const override {
        return std::nullopt;
    }
    void remember(Moment, const KernelVersion&, const Attempt&, const Draft*) override {
        ++remembered;
    }
    [[nodiscard]] std::optional<CandidateDiagnosis> diagnose(const DroppedCandidate&,
                                                             std::stop_token) const override {
        return std::nullopt;
    }
    [[nodiscard]] std::string notRemembered() const override { return "full"; }
    int remembered = 0;
};

class ModelStepsTest : public ::testing::Test {
protected:
    ModelStepsTest() {
        auto model = std::make_shared<const analysis::FileModel>(bench_.parsed(file));
        text_ = {{model->file, file, {}, bench_.command, model}, "k"};
        for (const char* id : {"fits", "cannot", "elsewhere"}) {
            skills::SkillMetadata& document = documents_.emplace_back();
            document.id = id;
            document.title = std::string("Method ") + id;
            document.method = std::string("Prose of ") + id;
            document.numerics = skills::Numerics::Reassociates;
            document.bottlenecks = {std::string(id) == "elsewhere" ? "divergence" : "balanced"};
        }
        auto bottleneck = std::make_shared<Bottleneck>();
        bottleneck->evidence = {{"so it is measured", "", "", std::nullopt}};
        standing_.bottleneck = bottleneck;
    }

    RepairBench bench_;
    KernelVersion text_;
    Standing standing_;
    std::vector<skills::SkillMetadata> documents_;
    PlayedModel model_;
    ModelEditDrafter drafter_{model_, bench_.toolchain};
    OtherSteps inner_;
    std::stop_source stop_;
    ModelSteps steps_{inner_, drafter_, bench_.toolchain, documents_};
};

TEST_F(ModelStepsTest, ThePlansOfTheSkillsGoFirst) {
    const Plan plan = steps_.plan(text_, standing_, {});
    ASSERT_EQ(plan.ranked.size(), 3u);
    EXPECT_EQ(plan.ranked[0].offer.skillId, "fits");
    EXPECT_EQ(plan.ranked[1].offer.skillId, languageModelSkill);
    EXPECT_EQ(plan.ranked[1].offer.option, 2) << "the method that no skill could carry out";
    EXPECT_EQ(plan.ranked[2].offer.skillId, languageModelSkill);
    EXPECT_EQ(plan.ranked[2].offer.option, 0);
    EXPECT_LT(plan.ranked[1].score, plan.ranked[0].score);
}

TEST_F(ModelStepsTest, IsNotAskedToLowerPrecision) {
    documents_[1].numerics = skills::Numerics::ReducedPrecision;
    const Plan plan = steps_.plan(text_, standing_, {});
    ASSERT_EQ(plan.ranked.size(), 2u);
    EXPECT_EQ(plan.ranked[1].offer.option, 0);
}

TEST_F(ModelStepsTest, ADraftOfTheModelIsToldTheMethodAndTheBottleneck) {
    const Plan plan = steps_.plan(text_, standing_, {});
    const auto draft = steps_.draft(text_, plan.ranked[1].offer, stop_.get_token());
    ASSERT_TRUE(draft) << draft.error().describe();
    EXPECT_THAT(draft->text.program.text, HasSubstr("+= 1; }"));
    EXPECT_EQ(draft->accuracy.numerics, skills::Numerics::Reassociates);
    EXPECT_EQ(draft->codeHash, codeHash(draft->text));
    EXPECT_THAT(draft->diff, HasSubstr("+__global__"));
    EXPECT_THAT(model_.prompts.at(0), HasSubstr("Prose of cannot"));
    EXPECT_THAT(model_.prompts.at(0), HasSubstr("so it is measured"));
    const auto free = steps_.draft(text_, plan.ranked[2].offer, stop_.get_token());
    ASSERT_TRUE(free);
    EXPECT_EQ(free->accuracy.numerics, skills::Numerics::Exact)
        << "the model does not choose its tolerance";
}

TEST_F(ModelStepsTest, LeavesTheRestToTheOthers) {
    skills::Offer offer;
    offer.skillId = "fits";
    EXPECT_THAT(steps_.draft(text_, offer, stop_.get_token()).error().what,
                HasSubstr("drafted fits"));
    EXPECT_EQ(steps_.review(text_, {}, skills::Numerics::Exact, {}, {})->status,
              VerdictStatus::Incorrect);
    EXPECT_EQ(steps_.notRemembered(), "full");
    EXPECT_TRUE(model_.prompts.empty());
}

TEST_F(ModelStepsTest, TheModelIsToldWhatBecameOfEarlierPlans) {
    const Plan plan = steps_.plan(text_, standing_, {});
    Attempt attempt;
    attempt.plan = plan.ranked[2];
    attempt.verdict = Verdict{};
    attempt.verdict->status = VerdictStatus::Incorrect;
    attempt.decision = "p[3] differs";
    attempt.diagnosis = CandidateDiagnosis{
        "tail", "the last 3 are wrong", {}, "all are written", "round the grid up"};
    steps_.remember(OptimizationSteps::Moment::Decided, text_, attempt, nullptr);
    EXPECT_EQ(inner_.remembered, 1);
    ASSERT_TRUE(steps_.draft(text_, plan.ranked[2].offer, stop_.get_token()));
    EXPECT_THAT(model_.prompts.at(0), HasSubstr("incorrect. p[3] differs"));
    EXPECT_THAT(model_.prompts.at(0), HasSubstr("cause: tail: the last 3 are wrong"));
    EXPECT_THAT(model_.prompts.at(0), HasSubstr("has to hold: all are written"));
    EXPECT_THAT(model_.prompts.at(0), HasSubstr("may do: round the grid up"));
}

TEST_F(ModelStepsTest, IsAskedAgainAfterAFailureButNotForEver) {
    Attempt attempt;
    attempt.plan = steps_.plan(text_, standing_, {}).ranked[2];
    attempt.verdict = Verdict{};
    attempt.verdict->status = VerdictStatus::Unmeasured;
    steps_.remember(OptimizationSteps::Moment::Decided, text_, attempt, nullptr);
    EXPECT_EQ(steps_.plan(text_, standing_, {}).ranked.size(), 3u) << "no faster is no failure";
    attempt.verdict->status = VerdictStatus::Incorrect;
    attempt.diagnosis = CandidateDiagnosis{"tail", "the last 3 are wrong", {}, {}, {}};
    std::set<int> options{attempt.plan.offer.option};
    for (std::size_t failed = 1; failed <= 3; ++failed) {
        steps_.remember(OptimizationSteps::Moment::Decided, text_, attempt, nullptr);
        const Plan plan = steps_.plan(text_, standing_, {});
        ASSERT_EQ(plan.ranked.size(), 3 + std::min<std::size_t>(failed, 2));
        if (failed > 2)
            break;
        attempt.plan = plan.ranked.back();
        EXPECT_EQ(attempt.plan.offer.skillId, languageModelSkill);
        EXPECT_THAT(attempt.plan.why, HasSubstr("tail, the last 3 are wrong"));
        EXPECT_TRUE(options.insert(attempt.plan.offer.option).second) << "another plan";
    }
    ASSERT_TRUE(steps_.draft(text_, attempt.plan.offer, {}));
    EXPECT_THAT(model_.prompts.at(0), HasSubstr("cause: tail"));
    attempt.plan.offer.skillId = "fits";
    steps_.remember(OptimizationSteps::Moment::Decided, text_, attempt, nullptr);
    EXPECT_EQ(steps_.plan(text_, standing_, {}).ranked.size(), 5u) << "of the model alone";
}

TEST_F(ModelStepsTest, StopsWhenTheSearchDoes) {
    const Plan plan = steps_.plan(text_, standing_, {});
    stop_.request_stop();
    const auto draft = steps_.draft(text_, plan.ranked[2].offer, stop_.get_token());
    ASSERT_FALSE(draft);
    EXPECT_EQ(draft.error().kind, ErrorKind::Cancelled);
}

} // namespace
} // namespace kernelskill::engine
