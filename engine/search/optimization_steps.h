/// What the OptimizationSearch has others do for it, so that its search can be tested without
/// running a kernel.
#pragma once

#include "engine/candidate_diagnosis/candidate_diagnoser.h"
#include "engine/execution/kernel_version.h"
#include "engine/optimization/optimization.h"
#include "engine/review/reviewer.h"
#include "engine/search/draft.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

/// What memory holds of a plan on a kernel's code.
struct RememberedOutcome {
    std::string time;
    Verdict verdict; ///< Status, speedup and a sentence.
    bool isKept = false;
    std::optional<CandidateDiagnosis> diagnosis = {};
};

/// Every function may be called by several threads at once.
class OptimizationSteps {
public:
    virtual ~OptimizationSteps() = default;

    /// Runs the text: what holds it back, and its time by measurement or by the model.
    [[nodiscard]] virtual Result<Standing> assess(const KernelVersion& text, std::stop_token stop,
                                                  const ProgressSink& progress) const = 0;
    /// Cheap. Only with short-term memory does it know what failed before.
    [[nodiscard]] virtual Plan plan(const KernelVersion& text, const Standing& standing) const = 0;
    /// Where a language model is asked: up to minutes, or until `stop`.
    [[nodiscard]] virtual Result<Draft> draft(const KernelVersion& text, const skills::Offer& offer,
                                              std::stop_token stop) const = 0;
    [[nodiscard]] virtual Result<Verdict> review(const KernelVersion& original,
                                                 const analysis::EditSet& edits,
                                                 skills::Numerics numerics, std::stop_token stop,
                                                 const ProgressSink& progress) const = 0;
    /// nullopt: the outcome on this code, judged as this run judges, is not known.
    [[nodiscard]] virtual std::optional<RememberedOutcome>
    recall(const KernelVersion& text, const skills::Offer& offer, const Draft& draft) const = 0;
    /// Why a candidate was not kept, see diagnoseCandidate(). May compile it, runs nothing.
    [[nodiscard]] virtual std::optional<CandidateDiagnosis>
    diagnose(const DroppedCandidate& dropped, std::stop_token stop) const = 0;
    /// Reviewed: there is a verdict, and a user decides. Decided: the search kept or dropped it.
    enum class Moment : std::uint8_t { Begins, Drafted, Reviewed, Decided };
    /// Writes to both memories. `draft` is null if none was made.
    virtual void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                          const Draft* draft) = 0;
    /// Why memory could not be written; empty when it was.
    [[nodiscard]] virtual std::string notRemembered() const = 0;
};

} // namespace kernelskill::engine
