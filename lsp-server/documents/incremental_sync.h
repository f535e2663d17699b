/// Content changes of textDocument/didChange, applied.
#pragma once

#include "analysis/source/source_text.h"
#include "lsp-server/protocol/text_document.h"

#include <memory>
#include <vector>

namespace kernelskill::lsp {

/// The text after `changes`, each relative to the text the one before left. Positions past the end
/// clamp.
[[nodiscard]] std::shared_ptr<const analysis::SourceText>
applyContentChanges(std::shared_ptr<const analysis::SourceText> text,
                    const std::vector<TextDocumentContentChangeEvent>& changes,
                    PositionEncoding encoding);

} // namespace kernelskill::lsp
