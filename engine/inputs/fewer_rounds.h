/// Shortens the loops of a launch that takes too long to run.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/scalar_use.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kernelskill::engine {

/// Divides by `divisor` each integer of `launch` that the condition of a loop depends on, and
/// leaves a few rounds. `uses` are those of the launched kernel. A note names each integer. nullopt
/// if there is none, and for a launch that the user pinned or a program made.
[[nodiscard]] std::optional<LaunchSpec>
withFewerRounds(LaunchSpec launch, const std::map<std::string, ScalarUse>& uses,
                std::int64_t divisor = 64);

} // namespace kernelskill::engine
