/// Valid dimensions, and numbers as notes list them: shared by the ways to make a launch.
#pragma once

#include "engine/execution/job.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kernelskill::engine {

/// nullopt when a component is below 1 or above `max`.
[[nodiscard]] std::optional<Dim3> dim3Of(const std::array<std::int64_t, 3>& extent,
                                         std::int64_t max);

/// "n = 64, width = 128"
[[nodiscard]] std::string listed(const std::map<std::string, std::int64_t>& values);

} // namespace kernelskill::engine
