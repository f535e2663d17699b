/// Stable names for what clang complains about.
#pragma once

#include <string>
#include <string_view>

namespace kernelskill::analysis {

/// `option` is the warning flag that controls the message ("-Wunused-value"), empty for a plain
/// error; `category` is clang's ("Semantic Issue"). Own names for common errors, else the option or
/// "clang-<category>".
[[nodiscard]] std::string diagnosticCode(std::string_view message, std::string_view option,
                                         std::string_view category);

} // namespace kernelskill::analysis
