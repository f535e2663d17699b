/// What the OptimizationManager has others do for it, so that its search can be tested without
/// running a kernel.
#pragma once

#include "engine/agents/candidate_diagnoser.h"
#include "engine/agents/kernel_version.h"
#include "engine/agents/optimization.h"
#include "engine/agents/reviewer.h"
#include "engine/execution/executor.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace kernelskill::engine {

/// The text that a plan makes of another, parsed anew.
struct Draft {
    KernelVersion text;
    analysis::EditSet edits; ///< Against the text that it was made from.
    skills::Numerics numerics = skills::Numerics::Exact;
    std::uint64_t codeHash = 0;
    std::string diff;
};

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

    /// The kernel's code and its launches with comments, white space and local names normalised.
    [[nodiscard]] virtual std::uint64_t codeHash(const KernelVersion& text) const = 0;
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
    /// To both memories. A plan that begins, or one whose outcome the attempt tells; `draft` is
    /// null where none was made.
    enum class Moment : std::uint8_t { Begins, Drafted, Decided };
    virtual void remember(Moment moment, const KernelVersion& text, const Attempt& attempt,
                          const Draft* draft) = 0;
    /// Why memory could not be written; empty when it was.
    [[nodiscard]] virtual std::string notRemembered() const = 0;
};

} // namespace kernelskill::engine
