/// Says what a search leaves to gain, and what stands in the way of it.
#pragma once

#include "engine/optimization/optimization.h"

#include <optional>
#include <span>

namespace kernelskill::engine {

/// Finds the loss of `version`, the best of a search that made `attempts`, given the plan for it.
/// nullopt if no bottleneck of the version is known.
[[nodiscard]] std::optional<RemainingLoss>
remainingLossOf(const Standing& version, const Plan& plan, std::span<const Attempt> attempts);

/// "by the model, not measured: the roofline is at most 1.9 times as fast"; empty if the distance
/// is unknown.
[[nodiscard]] std::string describeDistance(const RemainingLoss& loss);

} // namespace kernelskill::engine
