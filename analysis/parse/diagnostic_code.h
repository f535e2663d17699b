/// Gives stable names to clang's messages.
#pragma once

#include <string>
#include <string_view>

namespace kernelskill::analysis {

/// `option` is the warning flag of the message ("-Wunused-value"), empty for a plain error;
/// `category` is clang's ("Semantic Issue"). Common errors have their own names; others get the
/// option or "clang-<category>".
[[nodiscard]] std::string diagnosticCode(std::string_view message, std::string_view option,
                                         std::string_view category);

} // namespace kernelskill::analysis
