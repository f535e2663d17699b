/// Causes of candidates that are correct but not faster.
#pragma once

#include "engine/candidate_diagnosis/candidate_diagnoser.h"

namespace kernelskill::engine {

/// The quantity that got worse, by the compiler's facts and the counts of both profiles; or that
/// none did. Also says if the candidate cannot be launched on the GPU or if its compiler refuses
/// it. nullopt if the profiles are of different problems.
[[nodiscard]] std::optional<CandidateDiagnosis> noGainCause(const DroppedCandidate& dropped);

} // namespace kernelskill::engine
