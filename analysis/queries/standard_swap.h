/// Calls that exchange two variables.
#pragma once

#include "analysis/source/source_text.h"
#include "analysis/syntax/syntax.h"

namespace kernelskill::analysis {

/// Whether `expr` calls the standard library's swap: by its full name, or where `source` says
/// that the name means it.
[[nodiscard]] bool isStandardSwap(const SourceText& source, const Expr& expr);

} // namespace kernelskill::analysis
