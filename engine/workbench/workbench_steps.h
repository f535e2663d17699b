/// The steps of a real optimisation: with skills, machines and memories.
#pragma once

#include "engine/memory/long_term_memory.h"
#include "engine/memory/memory_recall.h"
#include "engine/planning/edit_drafter.h"
#include "engine/planning/planner.h"
#include "engine/search/optimization_steps.h"
#include "engine/workbench/kernel_knowledge.h"
#include "engine/workbench/profiler.h"
#include "engine/workbench/program_place.h"
#include "skills/skill_library.h"

#include <mutex>
#include <string>

namespace kernelskill::engine {

/// The tools of the steps. All of them outlive the steps.
struct StepTools {
    const Machines& machines;
    KernelKnowledge& knowledge;
    const Profiler& profiler;
    const skills::SkillLibrary& library;
    const Planner& planner;
    const EditDrafter& drafter;
    const Reviewer& reviewer;
    MemoryRecall& recall;
    const ShortTermMemory& shortTermMemory;
    LongTermMemory* longTermMemory = nullptr; ///< Null if there is none.
    /// Where edits are measured; null: on the GPU, if at all.
    ProgramPlace* place = nullptr;
};

class WorkbenchSteps final : public OptimizationSteps {
public:
    WorkbenchSteps(StepTools tools, const OptimizationOptions& options)
        : tools_(std::move(tools)), options_(options) {}

    [[nodiscard]] Result<Standing> assess(const KernelVersion& text, std::stop_token stop,
                                          const ProgressSink& progress) const override;
    [[nodiscard]] Plan plan(const KernelVersion& text, const Standing& standing,
                            const std::stop_token& stop) const override;
    [[nodiscard]] Result<Draft> draft(const KernelVersion& text, const skills::Offer& offer,
                                      std::stop_token stop) const override;
    [[nodiscard]] std::vector<Result<Screening>> screen(const KernelVersion& original,
                                                        std::span<const Draft* const> drafts,
                                                        std::stop_token stop) const override;
    [[nodiscard]] Result<Verdict> review(const KernelVersion& original,
                                         const analysis::EditSet& edits,
                                         const skills::Accuracy& accuracy, std::stop_token stop,
                                         const ProgressSink& progress) const override;
    [[nodiscard]] Result<Verdict> reviewSum(const KernelVersion& original,
                                            const analysis::EditSet& edits,
                                            const skills::Accuracy& accuracy,
                                            std::stop_token stop) const override;
    [[nodiscard]] std::optional<RememberedOutcome> recall(const KernelVersion& text,
                                                          const skills::Offer& offer,
                                                          const Draft& draft) const override;
    [[nodiscard]] std::optional<CandidateDiagnosis> diagnose(const DroppedCandidate& dropped,
                                                             std::stop_token stop) const override;
    void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                  const Draft* draft) override;
    [[nodiscard]] std::string notRemembered() const override;

private:
    /// The architecture of the GPU that measures, else of the GPU of estimates.
    [[nodiscard]] std::string architecture() const;
    [[nodiscard]] ReviewOptions reviewOptions() const {
        return {.measure = options_.measure, .seed = options_.seed, .place = tools_.place};
    }
    /// The standing of a text that the GPU runner cannot measure. It rests on the emulator's
    /// counts, or on the text and its compilation if the emulator cannot run it either.
    [[nodiscard]] Result<Standing> assessUnmeasured(const KernelVersion& text,
                                                    const std::stop_token& stop,
                                                    const ProgressSink& progress) const;
    [[nodiscard]] MemoryRecall::Entries remembered(const KernelVersion& text) const;
    [[nodiscard]] std::shared_ptr<const PlainOffers> plainOffers(const KernelVersion& text) const;
    void append(const MemoryEntry& entry);

    StepTools tools_;
    const OptimizationOptions& options_;
    mutable std::mutex mutex_;
    std::string notRemembered_;
};

} // namespace kernelskill::engine
