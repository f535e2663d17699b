/// The search alone. A text is a word, a skill appends its letter, and tables say what becomes of
/// it.
#include "engine/search/optimization_search.h"
#include "engine/storage/text_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

KernelVersion textOf(const std::string& word) {
    auto model = std::make_shared<analysis::FileModel>();
    model->file = "a.cu";
    analysis::KernelModel kernel;
    kernel.name = kernel.qualifiedName = "k";
    model->kernels.push_back(kernel);
    return {{"a.cu", word, {}, {}, model}, "k"};
}

class FakeSteps final : public OptimizationSteps {
public:
    /// The order of steps does not matter to what the code is.
    [[nodiscard]] static std::uint64_t hashOfLetters(const KernelVersion& text) {
        std::string letters = text.program.text;
        std::ranges::sort(letters);
        TextHash hash;
        hash.add(letters);
        return hash.value();
    }
    [[nodiscard]] Result<Standing> assess(const KernelVersion& text, std::stop_token,
                                          const ProgressSink&) const override {
        if (text.program.text == failing)
            return std::unexpected(Error{ErrorKind::Failed, "it hangs", "", ""});
        const auto known = costs.find(text.program.text);
        const double high = known == costs.end() ? 100 : known->second;
        Standing standing;
        standing.bottleneck = std::make_shared<const Bottleneck>();
        standing.cost = CostEstimate{"an H200", {1, high}, {}, 1};
        if (const auto counted = sectors.find(text.program.text); counted != sectors.end()) {
            Profile profile;
            profile.metrics = {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", counted->second},
                               {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 10}};
            standing.profile = std::make_shared<const Profile>(std::move(profile));
        }
        return standing;
    }
    [[nodiscard]] Plan plan(const KernelVersion& text, const Standing&) const override {
        Plan plan;
        const auto own = plans.find(text.program.text);
        for (const char letter : own == plans.end() ? everywhere : own->second) {
            RankedSkill ranked;
            ranked.offer.skillId = std::string(1, letter);
            ranked.failedBefore = failedBefore.contains(letter);
            ranked.role =
                hygiene.contains(letter) ? skills::SkillRole::Hygiene : skills::SkillRole::Answer;
            ranked.answers = hygiene.contains(letter) || fitsOnly.contains(letter)
                                 ? AnswersTo::Nothing
                                 : AnswersTo::Leading;
            plan.ranked.push_back(ranked);
        }
        plan.ruledOut.push_back({"z", "never fits"});
        return plan;
    }
    [[nodiscard]] Result<Draft> draft(const KernelVersion& text, const skills::Offer& offer,
                                      std::stop_token stop) const override {
        if (duringDraft)
            duringDraft(stop);
        if (offer.skillId == "!")
            return std::unexpected(Error{ErrorKind::Unsupported, "not this loop", "", ""});
        Draft draft{textOf(text.program.text + offer.skillId), {}, skills::Numerics::Exact, 0, ""};
        const auto end = static_cast<std::uint32_t>(text.program.text.size());
        draft.edits["a.cu"] = {{{end, end}, offer.skillId}};
        draft.codeHash = hashOfLetters(draft.text);
        draft.diff = "+" + offer.skillId;
        return draft;
    }
    [[nodiscard]] std::vector<std::optional<Screening>> screen(const KernelVersion& original,
                                                               std::span<const Draft* const> drafts,
                                                               std::stop_token) const override {
        std::vector<std::optional<Screening>> seen(drafts.size());
        for (std::size_t i = 0; i < drafts.size(); ++i) {
            const auto known =
                glances.find(original.program.text + ">" + drafts[i]->text.program.text);
            if (known == glances.end())
                continue;
            seen[i] = Screening{known->second, {}};
            if (known->second > 1)
                continue;
            Verdict& refusal = seen[i]->refusal.emplace();
            refusal.speedup = known->second;
            refusal.status = inconclusive.contains(known->first) ? VerdictStatus::Inconclusive
                                                                 : VerdictStatus::Slower;
        }
        return seen;
    }
    [[nodiscard]] Result<Verdict> review(const KernelVersion& original,
                                         const analysis::EditSet& edits, const skills::Accuracy&,
                                         std::stop_token, const ProgressSink&) const override {
        const auto text = analysis::applyEdits(original.program.text, edits.at("a.cu"));
        {
            const std::scoped_lock lock(mutex);
            reviews.push_back(original.program.text + ">" + *text);
        }
        if (duringReview)
            duringReview(*text);
        Verdict verdict;
        const auto known = verdicts.find(original.program.text + ">" + *text);
        verdict.status = known == verdicts.end() ? VerdictStatus::Unmeasured : known->second.first;
        if (known != verdicts.end() && known->second.second > 0)
            verdict.speedup = known->second.second;
        return verdict;
    }
    [[nodiscard]] std::optional<RememberedOutcome>
    recall(const KernelVersion& text, const skills::Offer& offer, const Draft&) const override {
        const auto known = memory.find(text.program.text + ">" + offer.skillId);
        return known == memory.end() ? std::nullopt : std::optional(known->second);
    }
    void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                  const Draft*) override {
        const std::scoped_lock lock(mutex);
        if (moment != Moment::Decided || !attempt.verdict)
            return;
        memory[text.program.text + ">" + attempt.plan.offer.skillId] = {
            "today", *attempt.verdict, attempt.isKept, attempt.diagnosis};
    }
    [[nodiscard]] std::optional<CandidateDiagnosis> diagnose(const DroppedCandidate& dropped,
                                                             std::stop_token) const override {
        return CandidateDiagnosis{"cause of " + dropped.before.program.text + ">" +
                                      dropped.after.program.text,
                                  {},
                                  {},
                                  {},
                                  {}};
    }
    [[nodiscard]] std::string notRemembered() const override { return ""; }

    std::string everywhere;                   ///< Skills that fit every text.
    std::map<std::string, std::string> plans; ///< By text; replaces `everywhere`.
    std::map<std::string, double> costs;      ///< The later end, by text; else 100.
    std::map<std::string, std::pair<VerdictStatus, double>> verdicts; ///< By "before>after".
    std::map<std::string, double> glances; ///< Speedups at a glance, by "before>after".
    std::set<std::string> inconclusive;    ///< Of these, those that are neither.
    std::set<char> failedBefore;
    std::set<char> hygiene;
    std::set<char> fitsOnly;               ///< Skills that answer nothing.
    std::map<std::string, double> sectors; ///< Sectors of a run, by text.
    std::string failing;                   ///< Text that cannot be run.
    std::function<void(const std::string&)> duringReview;
    std::function<void(const std::stop_token&)> duringDraft;
    std::map<std::string, RememberedOutcome> memory; ///< By "text>skill".
    mutable std::mutex mutex;
    mutable std::vector<std::string> reviews;
};

std::string logOf(const Optimization& found) {
    std::string log;
    for (const Attempt& attempt : found.attempts)
        log += fmt::format("{}.{} {}>{} {} {}\n", attempt.round, attempt.number, attempt.from,
                           attempt.plan.offer.skillId,
                           attempt.isKept ? fmt::format("v{}", attempt.version) : "-",
                           attempt.decision);
    return log + found.stopText;
}

class OptimizationSearchTest : public ::testing::Test {
protected:
    Optimization run(std::stop_token stop = {}) {
        auto found = OptimizationSearch(steps_, options_).run(textOf("o"), std::move(stop), {});
        EXPECT_TRUE(found);
        return found ? std::move(*found) : Optimization{};
    }
    /// Simulates a new start after the process was killed: only memory is left.
    void restart() { steps_.reviews.clear(); }

    FakeSteps steps_;
    OptimizationOptions options_;
};

TEST_F(OptimizationSearchTest, ImprovementsCompoundAndTheirSumIsReviewed) {
    steps_.everywhere = "ab";
    steps_.costs = {{"oa", 50}, {"ob", 90}, {"oab", 40}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_EQ(found.edits.at("a.cu").at(0), (analysis::TextEdit{{1, 1}, "ab"}));
    EXPECT_THAT(steps_.reviews, ::testing::Contains("o>oab"));
    ASSERT_TRUE(found.best);
    EXPECT_EQ(found.best->cost->seconds.high, 40);
    EXPECT_EQ(found.base.cost->seconds.high, 100);
    EXPECT_NEAR(*found.modelledGain, std::sqrt(100.0 / 40), 1e-12);
    EXPECT_EQ(found.verdict->status, VerdictStatus::Unmeasured);
    EXPECT_FALSE(found.verdict->speedup);
    ASSERT_TRUE(found.remaining);
    EXPECT_EQ(found.remaining->distance, (Interval{1, 40})); // The best version's.
}

TEST_F(OptimizationSearchTest, GoodPracticeThatLetsAnAnswerFitIsAStepOnTheWay) {
    steps_.hygiene = {'a'};
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.costs = {{"oab", 50}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "b"));
    EXPECT_THAT(found.attempts.at(0).decision, HasSubstr("kept, because it lets b fit"));
    EXPECT_THAT(steps_.reviews, ::testing::Contains("o>oab")); // The whole is reviewed.
}

TEST_F(OptimizationSearchTest, AStepIsNoResultByItself) {
    steps_.hygiene = {'a'};
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    EXPECT_FALSE(run().isImproved());
}

TEST_F(OptimizationSearchTest, GoodPracticeThatOpensNothingOrCostsTimeIsNoStep) {
    steps_.hygiene = {'a', 'c'};
    steps_.plans = {{"o", "ac"}, {"oa", "c"}, {"oc", "b"}};
    steps_.costs = {{"oc", 150}, {"ocb", 50}};
    const Optimization found = run();
    EXPECT_FALSE(found.isImproved());
    EXPECT_EQ(found.attempts.size(), 2u);
}

TEST_F(OptimizationSearchTest, AtAGlanceAStepNeedsNoReviewOfItsOwn) {
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

TEST_F(OptimizationSearchTest, APairOfEditsThatPaysOnlyTogetherIsFound) {
    steps_.plans = {{"o", "ab"}, {"oa", "c"}};
    steps_.costs = {{"oac", 50}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "c"));
    EXPECT_THAT(found.attempts.at(0).decision, HasSubstr("kept to build on"));
    EXPECT_THAT(steps_.reviews, ::testing::Contains("o>oac"));
    EXPECT_THAT(steps_.reviews, ::testing::Not(::testing::Contains("oa>oac")))
        << "compared with what came before the step";
}

TEST_F(OptimizationSearchTest, APairIsFoundAtAGlanceWithOneReview) {
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

TEST_F(OptimizationSearchTest, ThreeEditsThatPayOnlyTogetherAreFoundAndFourAreNot) {
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

TEST_F(OptimizationSearchTest, WhatIsMuchSlowerIsBuiltOnOnlyIfItAsksLessOfMemory) {
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

TEST_F(OptimizationSearchTest, PlansOfAStepThatAreNoFasterThanWhatCameBeforeItAreNotReviewed) {
    options_.measure = true;
    steps_.plans = {{"o", "a"}, {"oa", "b"}};
    steps_.glances = {{"o>oa", 0.9}, {"o>oab", 0.99}}; // 1.1 times as fast as the step
    EXPECT_FALSE(run().isImproved());
    EXPECT_THAT(steps_.reviews, IsEmpty());
}

TEST_F(OptimizationSearchTest, StepsAreBoundedInNumber) {
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

TEST_F(OptimizationSearchTest, StepsDoNotKeepBetterVersionsWaiting) {
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

TEST_F(OptimizationSearchTest, WhereRoundsGainNothingStepsAreStillBuiltOn) {
    options_.beam = 1;
    steps_.plans = {{"o", "abcdef"}, {"oa", "g"}};
    steps_.fitsOnly = {'b', 'c', 'd', 'e', 'f'};
    steps_.costs = {{"oag", 50}};
    const Optimization found = run();
    EXPECT_THAT(found.skills, ElementsAre("a", "g"));
}

TEST_F(OptimizationSearchTest, ResultsAreNeverWorseWhateverStepsLeadThere) {
    options_.measure = true;
    std::uint32_t random = 1;
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
        ASSERT_TRUE(found.verdict);
        EXPECT_EQ(found.verdict->status, VerdictStatus::Faster);
        EXPECT_GT(found.verdict->speedup.value_or(0), 1);
        const std::string text = "o" + found.edits.at("a.cu").at(0).newText;
        EXPECT_DOUBLE_EQ(*found.verdict->speedup, speeds[text]) << "of the whole, not of a step";
    }
}

TEST_F(OptimizationSearchTest, BuildingOnStepsEndsWithTheTime) {
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
