/// Types and numbers as code spells them.
#pragma once

#include "analysis/syntax/syntax.h"

#include <string>

namespace kernelskill::analysis {

/// How a local is declared that holds a value of this type: without const and volatile.
[[nodiscard]] std::string valueSpelling(const Type& type);

/// "float" for an array that is declared as `float a[256]`.
[[nodiscard]] std::string elementSpelling(const Type& array);

/// A small number as a literal of a type: "1.0f", "1.0", "1".
[[nodiscard]] std::string literalOf(int number, ScalarKind scalar);

} // namespace kernelskill::analysis
