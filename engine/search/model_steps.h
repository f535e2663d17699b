/// Adds the proposals of a language model to the steps of an optimisation. All other work, the
/// review above all, is left to the inner steps.
#pragma once

#include "engine/proposal/model_edit_drafter.h"
#include "engine/search/optimization_steps.h"

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// The name, in reports and memories, of the skill that the model carries out.
inline constexpr std::string_view languageModelSkill = "language-model";

class ModelSteps final : public OptimizationSteps {
public:
    /// All arguments outlive the steps.
    ModelSteps(OptimizationSteps& inner, const ModelEditDrafter& drafter,
               const analysis::Toolchain& toolchain,
               const std::vector<skills::SkillMetadata>& documents)
        : inner_(inner), drafter_(drafter), toolchain_(toolchain), documents_(documents) {}

    /// Adds plans for the model behind the skills that fit. The first is the first method against
    /// the bottleneck that no skill could carry out here and that keeps precision. The model gets
    /// the method's text; Offer::option is its number among the documents, from 1. The next plan is
    /// the model's own choice (option 0). If a kernel of the model failed its review in this run,
    /// the model is asked again and told the cause, at most twice.
    [[nodiscard]] Plan plan(const KernelVersion& text, const Standing& standing,
                            const std::stop_token& stop) const override;
    /// If the offer is for the model, asks it, which may take minutes.
    [[nodiscard]] Result<Draft> draft(const KernelVersion& text, const skills::Offer& offer,
                                      std::stop_token stop) const override;
    /// Remembers the outcome of a plan, which is part of later prompts.
    void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                  const Draft* draft) override;

    [[nodiscard]] Result<Standing> assess(const KernelVersion& text, std::stop_token stop,
                                          const ProgressSink& progress) const override {
        return inner_.assess(text, std::move(stop), progress);
    }
    [[nodiscard]] std::vector<Result<Screening>> screen(const KernelVersion& original,
                                                        std::span<const Draft* const> drafts,
                                                        std::stop_token stop) const override {
        return inner_.screen(original, drafts, std::move(stop));
    }
    [[nodiscard]] Result<Verdict> review(const KernelVersion& original,
                                         const analysis::EditSet& edits,
                                         const skills::Accuracy& accuracy, std::stop_token stop,
                                         const ProgressSink& progress) const override {
        return inner_.review(original, edits, accuracy, std::move(stop), progress);
    }
    [[nodiscard]] Result<Verdict> reviewSum(const KernelVersion& original,
                                            const analysis::EditSet& edits,
                                            const skills::Accuracy& accuracy,
                                            std::stop_token stop) const override {
        return inner_.reviewSum(original, edits, accuracy, std::move(stop));
    }
    [[nodiscard]] std::optional<RememberedOutcome> recall(const KernelVersion& text,
                                                          const skills::Offer& offer,
                                                          const Draft& draft) const override {
        return inner_.recall(text, offer, draft);
    }
    [[nodiscard]] std::optional<CandidateDiagnosis> diagnose(const DroppedCandidate& dropped,
                                                             std::stop_token stop) const override {
        return inner_.diagnose(dropped, std::move(stop));
    }
    [[nodiscard]] std::string notRemembered() const override { return inner_.notRemembered(); }

private:
    [[nodiscard]] const skills::SkillMetadata* methodOf(const skills::Offer& offer) const;

    OptimizationSteps& inner_;
    const ModelEditDrafter& drafter_;
    const analysis::Toolchain& toolchain_;
    const std::vector<skills::SkillMetadata>& documents_;
    mutable std::mutex mutex_;
    /// The bottlenecks of texts that plans were made for, by the hash of their code.
    mutable std::map<std::uint64_t, std::shared_ptr<const Bottleneck>> bottlenecks_;
    std::vector<MemoryEntry> history_; ///< The outcomes of this run.
    /// Why the model's kernels failed, by the hash of the code that they were made from.
    std::map<std::uint64_t, std::vector<std::string>> failures_;
};

} // namespace kernelskill::engine
