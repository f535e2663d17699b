/// The text of a load, for edits that replace it as a whole.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"

#include <optional>

namespace kernelskill::skills {

/// Returns the load's own text, or the use of a macro that is nothing but this load; nullopt where
/// a macro stands for more.
[[nodiscard]] std::optional<analysis::Span> textOfLoad(const analysis::SourceText& source,
                                                       const analysis::CodeMap& code,
                                                       analysis::ExprId load);

} // namespace kernelskill::skills
