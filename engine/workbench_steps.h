/// The steps of an optimisation as the workbench takes them: its skills, its executors, its
/// memories.
#pragma once

#include "engine/agents/optimization_steps.h"
#include "engine/agents/optimizer.h"
#include "engine/agents/planner.h"
#include "engine/memory/long_term_memory.h"
#include "engine/memory/memory_recall.h"
#include "engine/workbench.h"

#include <functional>
#include <mutex>
#include <string>

namespace kernelskill::engine {

/// What it works with; all of it outlives the steps.
struct StepTools {
    const Workbench& workbench;
    const Planner& planner;
    const Optimizer& optimizer;
    const Reviewer& reviewer;
    MemoryRecall& recall;
    const ShortTermMemory& shortTermMemory;
    LongTermMemory* longTermMemory = nullptr; ///< Null: none.
    const Gpu& gpu;                           ///< That the model is of.
    std::string architecture;                 ///< Of the GPU that measures, or of `gpu`.
    /// Facts of a text for that architecture; null: nothing compiles for GPUs here.
    std::function<Result<StaticFacts>(const KernelVersion&, const LaunchSpec&, std::stop_token)>
        compile = {};
};

class WorkbenchSteps final : public OptimizationSteps {
public:
    /// `options` hold a seed.
    WorkbenchSteps(StepTools tools, const OptimizationOptions& options)
        : tools_(std::move(tools)), options_(options) {}

    [[nodiscard]] std::uint64_t codeHash(const KernelVersion& text) const override;
    [[nodiscard]] Result<Standing> assess(const KernelVersion& text, std::stop_token stop,
                                          const ProgressSink& progress) const override;
    [[nodiscard]] Plan plan(const KernelVersion& text, const Standing& standing) const override;
    [[nodiscard]] Result<Draft> draft(const KernelVersion& text, const skills::Offer& offer,
                                      std::stop_token stop) const override;
    [[nodiscard]] Result<Verdict> review(const KernelVersion& original,
                                         const analysis::EditSet& edits, skills::Numerics numerics,
                                         std::stop_token stop,
                                         const ProgressSink& progress) const override;
    [[nodiscard]] std::optional<RememberedOutcome> recall(const KernelVersion& text,
                                                          const skills::Offer& offer,
                                                          const Draft& draft) const override;
    [[nodiscard]] std::optional<CandidateDiagnosis> diagnose(const DroppedCandidate& dropped,
                                                             std::stop_token stop) const override;
    void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                  const Draft* draft) override;
    [[nodiscard]] std::string notRemembered() const override;

private:
    [[nodiscard]] MemoryRecall::Entries remembered(const KernelVersion& text) const;
    void append(const MemoryEntry& entry);

    StepTools tools_;
    const OptimizationOptions& options_;
    mutable std::mutex mutex_;
    std::string notRemembered_;
};

} // namespace kernelskill::engine
