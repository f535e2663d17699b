/// Diagnoser of candidates: an edit that was not kept in, its cause out.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/execution/kernel_version.h"
#include "engine/optimization/optimization.h"
#include "engine/verdict/candidate_diagnosis.h"

#include <optional>
#include <stop_token>

namespace kernelskill::engine {

/// References and pointers live as long as the call.
struct DroppedCandidate {
    const KernelVersion& before;
    const KernelVersion& after;
    const Verdict& verdict;                              ///< On the step from one to the other.
    skills::Numerics numerics = skills::Numerics::Exact; ///< That the edit promised.
    const Standing& standingBefore;
    const Standing* standingAfter = nullptr; ///< Null: it was not run for its own sake.
};

/// A candidate that failed a check gets the cause that the check's findings point at; one that is
/// correct and no faster the counter that got worse, of both profiles, or that none did. What is
/// said of the cause is a conclusion, the evidence is what was seen. nullopt where the edit is not
/// to blame, or nothing is known but the verdict. Runs nothing; of a compile error it tries fixes,
/// which parses the file a few times.
[[nodiscard]] std::optional<CandidateDiagnosis>
diagnoseCandidate(const DroppedCandidate& dropped, const analysis::Toolchain& toolchain,
                  const std::stop_token& stop);

} // namespace kernelskill::engine
