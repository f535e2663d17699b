/// The compiler's flags that a build command names.
#pragma once

#include <string>
#include <vector>

namespace kernelskill::engine {

/// The flags of the first nvcc in a build command, also within `/bin/sh -c`: without sources and
/// the output's name. Empty for builds whose flags stand elsewhere, such as make.
[[nodiscard]] std::vector<std::string> nvccFlagsOf(const std::vector<std::string>& build);

} // namespace kernelskill::engine
