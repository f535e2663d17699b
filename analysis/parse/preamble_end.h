/// Keeps a header that is being edited out of the preamble of the source that it is read through.
#pragma once

#include "analysis/model/kernel_model.h"

#include <string>
#include <string_view>

namespace kernelskill::analysis {

/// `text` with the same offsets, in which clang's preamble, kept from parse to parse, ends before
/// `directive`: else each edit of what that includes would compile all headers again. As it was if
/// the preamble ends earlier anyway, or if the directive leaves no room for that. The file that is
/// included has to be one that is read once.
[[nodiscard]] std::string withPreambleEndBefore(const Include& directive, std::string text);

/// Whether a second #include of a file with this content reads nothing.
[[nodiscard]] bool isGuarded(std::string_view content);

} // namespace kernelskill::analysis
