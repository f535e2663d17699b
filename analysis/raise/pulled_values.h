/// Moves work from the readers of a buffer into the computation that writes it.
#pragma once

#include "analysis/raise/program.h"

namespace kernelskill::analysis::raise {

/// Where all readers of a local buffer compute the same of each of its elements, such as the bias
/// of a linear layer that a normalisation reads three times, the writer computes and stores that
/// instead. What else such a value reads has to exist before the writer runs, and elements of the
/// buffer do not grow.
[[nodiscard]] Program withPulledValues(Program program);

} // namespace kernelskill::analysis::raise
