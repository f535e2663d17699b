/// The steps of an optimisation with a language model among those who propose: everything else,
/// the review above all, is left to the steps that it stands before.
#pragma once

#include "engine/proposal/model_edit_drafter.h"
#include "engine/search/optimization_steps.h"

#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// The skill of a plan that the model carries out, in reports and memories.
inline constexpr std::string_view languageModelSkill = "language-model";

class ModelSteps final : public OptimizationSteps {
public:
    /// All of it outlives the steps.
    ModelSteps(OptimizationSteps& inner, const ModelEditDrafter& drafter,
               const analysis::Toolchain& toolchain,
               const std::vector<skills::SkillMetadata>& documents)
        : inner_(inner), drafter_(drafter), toolchain_(toolchain), documents_(documents) {}

    /// Behind the skills that fit: the first method against the bottleneck that no skill could
    /// carry out here and that keeps precision, given to the model with its text (Offer::option is
    /// its number among the documents, from 1), then the model's own choice (option 0). Where a
    /// kernel of the model's failed its review in this run, it is asked again, told the cause;
    /// twice at most.
    [[nodiscard]] Plan plan(const KernelVersion& text, const Standing& standing) const override;
    /// Asks the model, for up to minutes, where the offer is its own.
    [[nodiscard]] Result<Draft> draft(const KernelVersion& text, const skills::Offer& offer,
                                      std::stop_token stop) const override;
    /// Notes what became of a plan, so that the model is told of it.
    void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                  const Draft* draft) override;

    [[nodiscard]] Result<Standing> assess(const KernelVersion& text, std::stop_token stop,
                                          const ProgressSink& progress) const override {
        return inner_.assess(text, std::move(stop), progress);
    }
    [[nodiscard]] Result<Verdict> review(const KernelVersion& original,
                                         const analysis::EditSet& edits, skills::Numerics numerics,
                                         std::stop_token stop,
                                         const ProgressSink& progress) const override {
        return inner_.review(original, edits, numerics, std::move(stop), progress);
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
    /// Of the texts that plans were made for, by their code.
    mutable std::map<std::uint64_t, std::shared_ptr<const Bottleneck>> bottlenecks_;
    std::vector<MemoryEntry> history_; ///< Of this run.
    /// Why kernels of the model's failed, by the code that they were made of.
    std::map<std::uint64_t, std::vector<std::string>> failures_;
};

} // namespace kernelskill::engine
