#include "lsp-server/features/workspace_edit.h"

#include "analysis/source/json.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/protocol/text_document.h"
#include "lsp-server/protocol/uri.h"

namespace kernelskill::lsp {

using nlohmann::json;

json workspaceEdit(const analysis::EditSet& edits, const Snapshot& snapshot,
                   const ClientCapabilities& capabilities, const EditAnnotation& annotation) {
    constexpr const char* annotationId = "kernelskill";
    const bool isAnnotated = capabilities.documentChanges && capabilities.changeAnnotations &&
                             !annotation.description.empty();
    TextLookup texts(snapshot.program);
    json documentChanges = json::array();
    json changes = json::object();
    for (const auto& [file, fileEdits] : edits) {
        const analysis::SourceText& text = texts(file);
        json list = json::array();
        for (const analysis::TextEdit& edit : fileEdits) {
            list.push_back(
                TextEdit{toRange(text, edit.span, capabilities.positionEncoding), edit.newText});
            if (isAnnotated)
                list.back()["annotationId"] = annotationId;
        }
        const bool isMain = file == snapshot.program.file || file == snapshot.model().file;
        const std::string uri = isMain ? snapshot.uri : uriFromPath(file);
        if (capabilities.documentChanges)
            documentChanges.push_back(
                {{"textDocument",
                  {{"uri", uri}, {"version", isMain ? json(snapshot.version) : json(nullptr)}}},
                 {"edits", std::move(list)}});
        else
            changes[uri] = std::move(list);
    }
    if (!capabilities.documentChanges)
        return {{"changes", std::move(changes)}};
    json result{{"documentChanges", std::move(documentChanges)}};
    if (isAnnotated)
        result["changeAnnotations"] = {{annotationId,
                                        {{"label", annotation.label},
                                         {"description", annotation.description},
                                         {"needsConfirmation", annotation.needsConfirmation}}}};
    return result;
}

} // namespace kernelskill::lsp
