/// Judges mixes of generated models and LibTorch by the results of a whole program.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/mix.h"

#include <memory>

namespace kernelskill::engine::graph {

/// Runs each mix on the inputs and weights of the first trials of a judge, one for each
/// distribution, and compares its outputs by the judge's rules at the request's tolerance. A mix
/// that is wrong is not run again. The archive of the request is not looked at; the libraries stay
/// loaded. Errors are those of the reference, and any that the device may not recover from.
[[nodiscard]] Result<TorchMixes> judgeMixes(const std::shared_ptr<const Program>& program,
                                            const TorchMixRequest& request);

} // namespace kernelskill::engine::graph
