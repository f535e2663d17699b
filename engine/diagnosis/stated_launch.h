/// The launch by which a kernel is diagnosed before anything has run it.
#pragma once

#include "engine/execution/job.h"

#include <vector>

namespace kernelskill::engine {

/// Returns the launch that speaks for a kernel with these launches, best first: of several that the
/// text tells, the one with most threads. nullptr where there is none, and where the text tells one
/// of them and not another, which may be the larger.
[[nodiscard]] const LaunchSpec* statedLaunch(const std::vector<LaunchSpec>& launches);

} // namespace kernelskill::engine
