/// Preprocessor conditionals in an unpreprocessed text: what can never be compiled, and what would
/// unbalance brackets.
#pragma once

#include "engine/source_scan/tokens.h"

#include <vector>

namespace kernelskill::engine {

/// Without the tokens of `#if 0` branches. Directives stay.
[[nodiscard]] std::vector<Token> withoutDisabled(const std::vector<Token>& tokens);

/// What bracket matching can rely on: no directives, and of a conditional whose branches open or
/// close brackets
/// (`#ifdef A` / `void f(int) {` / `#else` / `void f(long) {` / `#endif`) only the first branch
/// with content.
[[nodiscard]] std::vector<Token> structuralTokens(const std::vector<Token>& tokens);

} // namespace kernelskill::engine
