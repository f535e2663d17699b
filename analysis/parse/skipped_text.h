/// The parts of the user's files that the preprocessor left out.
#pragma once

#include "analysis/source/source_text.h"

#include <clang-c/Index.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The ranges of each of `files` that stand in a branch of an #if that was not taken, in order and
/// apart, with the directives around. Files without any are absent. A file that is read several
/// times has the ranges of each time, but for what a header's guard leaves out. The unit has to
/// have been parsed with a detailed preprocessing record.
[[nodiscard]] std::map<std::string, std::vector<Span>, std::less<>>
skippedText(CXTranslationUnit unit, const std::vector<std::string>& files);

} // namespace kernelskill::analysis
