#include "lsp-server/documents/incremental_sync.h"

namespace kernelskill::lsp {

std::shared_ptr<const analysis::SourceText>
applyContentChanges(std::shared_ptr<const analysis::SourceText> text,
                    const std::vector<TextDocumentContentChangeEvent>& changes,
                    PositionEncoding encoding) {
    for (const TextDocumentContentChangeEvent& change : changes) {
        if (!change.range) {
            text = std::make_shared<const analysis::SourceText>(change.text);
            continue;
        }
        const analysis::Span span = toSpan(*text, *change.range, encoding);
        std::string edited = text->text();
        edited.replace(span.begin, span.size(), change.text);
        text = std::make_shared<const analysis::SourceText>(std::move(edited));
    }
    return text;
}

} // namespace kernelskill::lsp
