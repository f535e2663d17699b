/// Preprocessor branches that no nvcc on Linux enters.
#pragma once

#include "analysis/source/source_text.h"

#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// The text between directives that holds only for another system or compiler: Windows, macOS,
/// Microsoft's compiler, HIP, NVRTC. Only conditions that name nothing else are judged: whatever
/// else stands in a condition may be true.
[[nodiscard]] std::vector<Span> branchesOfOtherPlatforms(std::string_view text);

} // namespace kernelskill::analysis
