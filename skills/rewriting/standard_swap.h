/// Calls that exchange two variables.
#pragma once

#include "analysis/source/source_text.h"
#include "analysis/syntax/syntax.h"

namespace kernelskill::skills {

/// Whether `expr` calls the standard library's swap: by its full name, or where `source` says
/// that the name means it.
[[nodiscard]] bool isStandardSwap(const analysis::SourceText& source, const analysis::Expr& expr);

} // namespace kernelskill::skills
