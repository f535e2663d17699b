/// The steps that OptimizationSearch delegates, so that tests of the search need not run kernels.
#pragma once

#include "engine/candidate_diagnosis/candidate_diagnoser.h"
#include "engine/execution/kernel_version.h"
#include "engine/optimization/optimization.h"
#include "engine/review/reviewer.h"
#include "engine/search/draft.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The remembered outcome of a plan on a kernel's code.
struct RememberedOutcome {
    std::string time;
    Verdict verdict; ///< Has only status, speedup and a sentence.
    bool isKept = false;
    std::optional<CandidateDiagnosis> diagnosis = {};
};

/// Several threads may call any function at once.
class OptimizationSteps {
public:
    virtual ~OptimizationSteps() = default;

    /// Runs the text. Returns its bottleneck and its time, measured or modelled.
    [[nodiscard]] virtual Result<Standing> assess(const KernelVersion& text, std::stop_token stop,
                                                  const ProgressSink& progress) const = 0;
    /// Cheap. Rules out what failed before only if there is short-term memory. When `stop` is
    /// requested, the plan is empty.
    [[nodiscard]] virtual Plan plan(const KernelVersion& text, const Standing& standing,
                                    const std::stop_token& stop) const = 0;
    /// May take minutes if a language model is asked. Cancelled if `stop` is requested.
    [[nodiscard]] virtual Result<Draft> draft(const KernelVersion& text, const skills::Offer& offer,
                                              std::stop_token stop) const = 0;
    /// Times drafts of `original` in a quick look, before their reviews. An error says why a draft
    /// has no time.
    [[nodiscard]] virtual std::vector<Result<Screening>>
    screen(const KernelVersion& original, std::span<const Draft* const> drafts,
           std::stop_token stop) const = 0;
    [[nodiscard]] virtual Result<Verdict> review(const KernelVersion& original,
                                                 const analysis::EditSet& edits,
                                                 const skills::Accuracy& accuracy,
                                                 std::stop_token stop,
                                                 const ProgressSink& progress) const = 0;
    /// Reviews all edits of a sequence together, each of which passed a review on the result of
    /// the ones before it.
    [[nodiscard]] virtual Result<Verdict> reviewSum(const KernelVersion& original,
                                                    const analysis::EditSet& edits,
                                                    const skills::Accuracy& accuracy,
                                                    std::stop_token stop) const = 0;
    /// nullopt unless memory has an outcome for this code that was judged in the way of this run.
    [[nodiscard]] virtual std::optional<RememberedOutcome>
    recall(const KernelVersion& text, const skills::Offer& offer, const Draft& draft) const = 0;
    /// Why a candidate was not kept, see diagnoseCandidate(). May compile the candidate but runs
    /// nothing.
    [[nodiscard]] virtual std::optional<CandidateDiagnosis>
    diagnose(const DroppedCandidate& dropped, std::stop_token stop) const = 0;
    /// Reviewed: there is a verdict, and a user decides. Decided: the search kept or dropped the
    /// candidate.
    enum class Moment : std::uint8_t { Begins, Drafted, Reviewed, Decided };
    /// Writes to both memories. `draft` is null if there is none.
    virtual void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                          const Draft* draft) = 0;
    /// Why memory could not be written; empty if it was.
    [[nodiscard]] virtual std::string notRemembered() const = 0;
};

} // namespace kernelskill::engine
