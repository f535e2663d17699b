/// Diagnoses candidates: finds why an edit was not kept.
#pragma once

#include "analysis/command/toolchain.h"
#include "engine/execution/kernel_version.h"
#include "engine/optimization/optimization.h"
#include "engine/verdict/candidate_diagnosis.h"

#include <optional>
#include <stop_token>

namespace kernelskill::engine {

/// References and pointers are valid during the call.
struct DroppedCandidate {
    const KernelVersion& before;
    const KernelVersion& after;
    const Verdict& verdict; ///< The verdict on the step from `before` to `after`.
    skills::Numerics numerics = skills::Numerics::Exact; ///< The numerics that the edit promised.
    const Standing& standingBefore;
    const Standing* standingAfter = nullptr; ///< Null if it was not run by itself.
};

/// For a candidate that failed a check, the cause follows from the check's findings. For one that
/// is correct but not faster, it is the counter of both profiles that got worse, if any did. The
/// cause is a conclusion; the evidence is what was observed. nullopt if the edit is not at fault,
/// or if only the verdict is known. Runs nothing. For a compile error it tries fixes, which parses
/// the file a few times.
[[nodiscard]] std::optional<CandidateDiagnosis>
diagnoseCandidate(const DroppedCandidate& dropped, const analysis::Toolchain& toolchain,
                  const std::stop_token& stop);

} // namespace kernelskill::engine
