/// Launches whose brackets white space breaks: `kernel << <grid, block >> > (a)`.
#pragma once

#include <string>

namespace kernelskill::analysis {

/// Returns the text with the brackets of launches joined, each position as it was: nvcc reads
/// `<< <` as `<<<`, and clang does not.
[[nodiscard]] std::string withJoinedLaunchBrackets(std::string text);

} // namespace kernelskill::analysis
