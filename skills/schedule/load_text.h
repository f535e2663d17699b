/// The text of a load, for edits that replace it as a whole.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/source/source_text.h"

#include <optional>

namespace kernelskill::skills {

/// The load's own text, or the use of a macro that is nothing but this load; nullopt where its text
/// is part of a macro's.
[[nodiscard]] std::optional<analysis::Span> textOfLoad(const analysis::SourceText& source,
                                                       const analysis::CodeMap& code,
                                                       analysis::ExprId load);

} // namespace kernelskill::skills
