/// The values that the branches around a launch state.
#pragma once

#include "engine/inputs/host_scope.h"
#include "engine/inputs/launch_sites.h"

#include <cstdint>
#include <map>
#include <string>

namespace kernelskill::engine {

/// The values that variables have where host code comes to the launch, by name:
/// `switch (threads) { case 512: k<512><<<…>>>(…)` says what `threads` is, and
/// `if (width == 5) k<5><<<…>>>(…, width)` says it of an argument.
[[nodiscard]] std::map<std::string, std::int64_t>
launchCases(const ProgramText& program, const SiteText& site, const EvaluationSettings& strict);

} // namespace kernelskill::engine
