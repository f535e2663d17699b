/// Small changes to a text, most of which change what it does.
#pragma once

#include "analysis/syntax/syntax.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// `text` in the place of `span`.
struct Mutant {
    analysis::Span span;
    std::string text;
};

/// Every token of `within` with each of its replacements: operators, numbers, types, conditions,
/// subscripts, statements left out.
[[nodiscard]] std::vector<Mutant> mutantsOf(const std::string& text, analysis::Span within);

[[nodiscard]] std::string mutated(std::string text, const Mutant& mutant);
/// The line that the mutant has changed.
[[nodiscard]] std::string lineOf(const std::string& mutated, const Mutant& mutant);

} // namespace kernelskill::engine
