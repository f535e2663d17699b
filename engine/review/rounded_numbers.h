/// Tells whether an edit brings in numbers that float rounds, such as 0.3333333f for a division.
#pragma once

#include "engine/execution/job.h"

#include <string_view>

namespace kernelskill::engine {

/// Whether the edited text has a floating literal that the original lacks and that float does not
/// hold exactly, or whether its launch passes a floating scalar that the original's does not. Such
/// a number is as far off in float64 as it is in float.
[[nodiscard]] bool bringsRoundedNumbers(std::string_view original, std::string_view edited,
                                        const LaunchSpec& originalLaunch,
                                        const LaunchSpec& editedLaunch);

} // namespace kernelskill::engine
