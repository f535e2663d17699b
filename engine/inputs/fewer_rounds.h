/// Shorter loops for a launch that is too long to run.
#pragma once

#include "engine/execution/job.h"
#include "engine/inputs/scalar_use.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kernelskill::engine {

/// `launch` with each integer that the conditions of loops depend on divided by `divisor`, but not
/// below a few rounds; `uses` are those of its kernel. A note names each. nullopt if there is no
/// such integer, and for a launch that the user pinned or a program made.
[[nodiscard]] std::optional<LaunchSpec>
withFewerRounds(LaunchSpec launch, const std::map<std::string, ScalarUse>& uses,
                std::int64_t divisor = 64);

} // namespace kernelskill::engine
