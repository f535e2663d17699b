/// A search over words: a text is a word, a skill appends its letter, and tables say what becomes
/// of it.
#pragma once

#include "engine/search/optimization_search.h"
#include "engine/storage/text_hash.h"

#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

inline KernelVersion textOf(const std::string& word) {
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
        {
            const std::scoped_lock lock(mutex);
            assessed.push_back(text.program.text);
        }
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
    [[nodiscard]] Plan plan(const KernelVersion& text, const Standing&,
                            const std::stop_token& stop) const override {
        if (duringPlan)
            duringPlan();
        if (stop.stop_requested())
            return {};
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
            const auto varied = options.find(letter);
            for (const int option : varied == options.end() ? std::vector{0} : varied->second) {
                ranked.offer.option = option;
                plan.ranked.push_back(ranked);
            }
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
        {
            const std::scoped_lock lock(mutex);
            drafts.push_back(text.program.text + ">" + offer.skillId);
        }
        const std::string added =
            offer.skillId + (offer.option > 0 ? std::to_string(offer.option) : "");
        Draft draft{textOf(text.program.text + added), {}, skills::Numerics::Exact, 0, ""};
        const auto end = static_cast<std::uint32_t>(text.program.text.size());
        draft.edits["a.cu"] = {{{end, end}, added}};
        draft.codeHash = hashOfLetters(draft.text);
        draft.diff = "+" + offer.skillId;
        return draft;
    }
    [[nodiscard]] std::vector<Result<Screening>> screen(const KernelVersion& original,
                                                        std::span<const Draft* const> drafts,
                                                        std::stop_token) const override {
        auto seen = noneTimed(drafts.size(), "no glance is known");
        for (std::size_t i = 0; i < drafts.size(); ++i) {
            {
                const std::scoped_lock lock(mutex);
                looks.push_back(original.program.text + ">" + drafts[i]->text.program.text);
            }
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
                                         std::stop_token stop, const ProgressSink&) const override {
        const auto text = analysis::applyEdits(original.program.text, edits.at("a.cu"));
        {
            const std::scoped_lock lock(mutex);
            reviews.push_back(original.program.text + ">" + *text);
        }
        if (duringReview)
            duringReview(*text);
        if (duringStoppedReview)
            duringStoppedReview(*text, stop);
        Verdict verdict;
        const auto known = verdicts.find(original.program.text + ">" + *text);
        verdict.status = known == verdicts.end() ? VerdictStatus::Unmeasured : known->second.first;
        if (known != verdicts.end() && known->second.second > 0)
            verdict.speedup = known->second.second;
        return verdict;
    }
    [[nodiscard]] Result<Verdict> reviewSum(const KernelVersion& original,
                                            const analysis::EditSet& edits,
                                            const skills::Accuracy& accuracy,
                                            std::stop_token stop) const override {
        const auto text = analysis::applyEdits(original.program.text, edits.at("a.cu"));
        {
            const std::scoped_lock lock(mutex);
            sums.push_back(original.program.text + ">" + *text);
        }
        return review(original, edits, accuracy, std::move(stop), {});
    }
    [[nodiscard]] std::optional<RememberedOutcome>
    recall(const KernelVersion& text, const skills::Offer& offer, const Draft&) const override {
        const std::scoped_lock lock(mutex);
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
    std::map<std::string, double> glances;    ///< Speedups at a glance, by "before>after".
    std::set<std::string> inconclusive;       ///< Of these, those that are neither.
    std::map<char, std::vector<int>> options; ///< Of skills with options; their texts name these.
    std::set<char> failedBefore;
    std::set<char> hygiene;
    std::set<char> fitsOnly;               ///< Skills that answer nothing.
    std::map<std::string, double> sectors; ///< Sectors of a run, by text.
    std::string failing;                   ///< Text that cannot be run.
    std::function<void()> duringPlan;
    std::function<void(const std::string&)> duringReview;
    std::function<void(const std::string&, const std::stop_token&)> duringStoppedReview;
    std::function<void(const std::stop_token&)> duringDraft;
    std::map<std::string, RememberedOutcome> memory; ///< By "text>skill".
    mutable std::mutex mutex;
    mutable std::vector<std::string> reviews; ///< "before>after", sums among them.
    mutable std::vector<std::string> sums;
    mutable std::vector<std::string> drafts;   ///< "text>skill"
    mutable std::vector<std::string> looks;    ///< "before>after", as screened.
    mutable std::vector<std::string> assessed; ///< Texts.
};

inline std::string logOf(const Optimization& found) {
    std::string log;
    for (const Attempt& attempt : found.attempts)
        log += fmt::format("{}.{} {}>{} {} {}\n", attempt.round, attempt.number, attempt.from,
                           attempt.plan.offer.skillId,
                           attempt.isKept ? fmt::format("v{}", attempt.version) : "-",
                           attempt.decision);
    return log + found.stopText;
}

class SearchFixture : public ::testing::Test {
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

} // namespace kernelskill::engine
