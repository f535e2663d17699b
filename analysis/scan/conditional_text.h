/// Preprocessor conditionals in a text that is not preprocessed. They hold code that is never
/// compiled, and branches that would unbalance brackets.
#pragma once

#include "analysis/syntax/lexer.h"

#include <vector>

namespace kernelskill::analysis {

/// Whether the token is a directive of a conditional: `#if`, `#else`, `#endif` and their like.
[[nodiscard]] bool isConditional(const Token& token);

/// The tokens without those of `#if 0` branches. Directives stay.
[[nodiscard]] std::vector<Token> withoutDisabled(const std::vector<Token>& tokens);

/// The tokens that bracket matching can rely on: without directives, and with only the first branch
/// with content of a conditional whose branches open or close brackets (`#ifdef A` / `void f(int)
/// {` / `#else` / `void f(long) {` / `#endif`).
[[nodiscard]] std::vector<Token> structuralTokens(const std::vector<Token>& tokens);

} // namespace kernelskill::analysis
