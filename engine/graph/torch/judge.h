/// Judges generated models: the gate, and the times.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/judgement.h"

#include <memory>

namespace kernelskill::engine::graph {

/// The archive of the request is not looked at. The library stays loaded until the process ends,
/// and may have changed anything in it: a judgement that counts comes from a fresh process.
/// The judgement says what the candidate does wrong. Errors are those of PreparedProgram and of the
/// reference, and of a library that cannot be loaded.
[[nodiscard]] Result<Judgement> judge(const std::shared_ptr<const Program>& program,
                                      const TorchJudgeRequest& request);

} // namespace kernelskill::engine::graph
