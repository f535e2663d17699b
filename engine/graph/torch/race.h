/// Times a candidate next to the eager program, on the same inputs.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/reference/judgement.h"
#include "engine/graph/torch/gate_trial.h"

#include <string>

namespace kernelskill::engine::graph {

struct RaceOutcome {
    JudgedTimes times;
    std::string refusal; ///< An offence of the candidate that no honest one commits; else empty.
};

/// Rounds of both take turns on a stream that is not the default one, the L2 cache swept before
/// each. Sets of inputs take turns, too. What the candidate computes in a timed round has to be
/// what it computed before; and many calls behind each other may not take much longer than rounds
/// say, or something goes on beside the stream. An error is not the candidate's.
[[nodiscard]] Result<RaceOutcome> race(const Contest& contest, const TorchJudgeRequest& request);

} // namespace kernelskill::engine::graph
