/// Whether code that is put between other code has to stand in brackets.
#pragma once

#include "analysis/syntax/lexer.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// True if the expression `code` would be read differently, or might be, in place of the tokens
/// [first, end) of `around` than in brackets.
[[nodiscard]] bool needsBrackets(std::string_view code, const std::vector<analysis::Token>& around,
                                 std::size_t first, std::size_t end);

} // namespace kernelskill::skills
