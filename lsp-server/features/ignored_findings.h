/// Leaves out findings that a comment names: `// kernelskill: ignore uncoalesced-access, race`.
#pragma once

#include "analysis/source/diagnostic.h"
#include "analysis/source/source_text.h"
#include "analysis/source/text_edit.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Whether a comment can ignore findings of this code: hazards and waste, not what keeps the file
/// from being compiled or launched.
[[nodiscard]] bool mayBeIgnored(const analysis::Diagnostic& diagnostic);

/// Removes what comments of `source`, the text of `file`, ignore. A comment holds for its own line,
/// or, if nothing else is on that, for the next line with code. A comment that names nothing which
/// may be ignored is a warning, and is added.
void ignoreFindings(std::vector<analysis::Diagnostic>& diagnostics, const std::string& file,
                    const analysis::SourceText& source);

/// The edit that puts such a comment above the line of the finding, which is in `source`. nullopt
/// where that line continues the one before, as in a macro: a comment would end it.
[[nodiscard]] std::optional<analysis::TextEdit> ignoringComment(const analysis::Diagnostic& finding,
                                                                const analysis::SourceText& source);

} // namespace kernelskill::lsp
