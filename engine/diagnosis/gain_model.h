/// Estimates the gain from removing a bottleneck, from counts.
#pragma once

#include "engine/diagnosis/bottleneck.h"
#include "engine/diagnosis/signals.h"

#include <optional>

namespace kernelskill::engine {

/// `leading` is the signal that decided for `kind`. nullopt if the counts do not tell the gain.
[[nodiscard]] std::optional<Gain> gainOf(BottleneckKind kind, const Signal& leading,
                                         const DiagnosisInput& input, double launchSeconds);

} // namespace kernelskill::engine
