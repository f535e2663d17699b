#include "lsp-server/features/workspace_edit.h"

#include "analysis/source/json.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/protocol/text_document.h"
#include "lsp-server/protocol/uri.h"

namespace kernelskill::lsp {

using nlohmann::json;

json workspaceEdit(const std::vector<FileEdit>& files, const ClientCapabilities& capabilities,
                   const EditAnnotation& annotation) {
    constexpr const char* annotationId = "kernelskill";
    const bool isAnnotated = capabilities.documentChanges && capabilities.changeAnnotations &&
                             !annotation.description.empty();
    json documentChanges = json::array();
    json changes = json::object();
    for (const FileEdit& file : files) {
        json list = json::array();
        for (const analysis::TextEdit& edit : file.edits) {
            list.push_back(TextEdit{toRange(*file.text, edit.span, capabilities.positionEncoding),
                                    edit.newText});
            if (isAnnotated)
                list.back()["annotationId"] = annotationId;
        }
        if (capabilities.documentChanges)
            documentChanges.push_back(
                {{"textDocument",
                  {{"uri", file.uri},
                   {"version", file.version ? json(*file.version) : json(nullptr)}}},
                 {"edits", std::move(list)}});
        else
            changes[file.uri] = std::move(list);
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

json workspaceEdit(const analysis::EditSet& edits, const Snapshot& snapshot,
                   const ClientCapabilities& capabilities, const EditAnnotation& annotation) {
    TextLookup texts(snapshot.program);
    std::vector<FileEdit> files;
    for (const auto& [file, fileEdits] : edits) {
        const bool isMain = file == snapshot.program.file || file == snapshot.model().file;
        files.push_back({isMain ? snapshot.uri : uriFromPath(file),
                         isMain ? std::optional(snapshot.version) : std::nullopt, &texts(file),
                         fileEdits});
    }
    return workspaceEdit(files, capabilities, annotation);
}

} // namespace kernelskill::lsp
