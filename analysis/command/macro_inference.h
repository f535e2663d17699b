/// Guesses -D flags for a file without a compile command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Returns the macros without which `text` cannot be compiled: it uses a macro, outside of
/// conditionals, that its headers define under `#ifdef` of such a macro and nowhere else, as in
/// `#ifdef GPU` / `#define BLOCK 512`. Macros that a text defines itself, that compilers reserve or
/// that stand for other platforms are not among them. In the order of the headers' texts.
[[nodiscard]] std::vector<std::string> neededMacros(std::string_view text,
                                                    const std::vector<std::string>& headers);

} // namespace kernelskill::analysis
