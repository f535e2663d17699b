/// Causes of candidates that are correct and no faster.
#pragma once

#include "engine/candidate_diagnosis/candidate_diagnoser.h"

namespace kernelskill::engine {

/// What got worse, by what the GPU's compiler says and by the counts of both profiles; else that
/// nothing did. A candidate that cannot be launched on the GPU, or that its compiler refuses, is
/// told so. nullopt where the profiles are of different problems.
[[nodiscard]] std::optional<CandidateDiagnosis> noGainCause(const DroppedCandidate& dropped);

} // namespace kernelskill::engine
