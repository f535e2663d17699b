/// Finds preprocessor branches that nvcc on Linux never enters.
#pragma once

#include "analysis/source/source_text.h"

#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The text of branches for another system or compiler: Windows, macOS, Microsoft's compiler, HIP,
/// NVRTC. Only conditions that name nothing else are judged, because any other condition may be
/// true.
[[nodiscard]] std::vector<Span> branchesOfOtherPlatforms(std::string_view text);

} // namespace kernelskill::analysis
