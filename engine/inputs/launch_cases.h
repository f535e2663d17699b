/// The values for which host code comes to a launch.
#pragma once

#include "engine/inputs/host_scope.h"
#include "engine/inputs/launch_sites.h"

#include <cstdint>
#include <map>
#include <string>

namespace kernelskill::engine {

/// `switch (threads) { case 512: k<512><<<…>>>(…)` says what `threads` is, and so does
/// `if (width == 5) k<5><<<…>>>(…, width)` of an argument.
[[nodiscard]] std::map<std::string, std::int64_t>
launchCases(const ProgramText& program, const SiteText& site, const EvaluationSettings& strict);

} // namespace kernelskill::engine
