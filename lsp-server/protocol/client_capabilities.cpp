#include "lsp-server/protocol/client_capabilities.h"

#include "analysis/source/json.h"

#include <algorithm>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

/// The value at a JSON pointer; null where any step is absent or of another shape.
json at(const json& root, const char* pointer) {
    const json::json_pointer path(pointer);
    return root.contains(path) ? root.at(path) : json();
}

bool flag(const json& root, const char* pointer) {
    const json value = at(root, pointer);
    return value.is_boolean() && value.get<bool>();
}

bool listHolds(const json& list, const char* wanted) {
    return list.is_array() && std::ranges::any_of(list, [&](const json& item) {
               return item.is_string() && item.get<std::string>() == wanted;
           });
}

PositionEncoding negotiate(const json& offered) {
    if (offered.is_array()) {
        for (const json& name : offered)
            for (const auto encoding :
                 {PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32})
                if (name.is_string() && name.get<std::string>() == spelling(encoding))
                    return encoding;
    }
    return PositionEncoding::Utf16;
}

} // namespace

void from_json(const json& root, ClientCapabilities& capabilities) {
    capabilities.positionEncoding = negotiate(at(root, "/general/positionEncodings"));
    capabilities.configuration = flag(root, "/workspace/configuration");
    capabilities.didChangeConfigurationRegistration =
        flag(root, "/workspace/didChangeConfiguration/dynamicRegistration");
    capabilities.applyEdit = flag(root, "/workspace/applyEdit");
    capabilities.documentChanges = flag(root, "/workspace/workspaceEdit/documentChanges");
    capabilities.changeAnnotations =
        at(root, "/workspace/workspaceEdit/changeAnnotationSupport").is_object();
    capabilities.codeActionLiterals =
        at(root, "/textDocument/codeAction/codeActionLiteralSupport").is_object();
    capabilities.codeActionResolveEdit =
        listHolds(at(root, "/textDocument/codeAction/resolveSupport/properties"), "edit");
    capabilities.codeActionResolveCommand =
        listHolds(at(root, "/textDocument/codeAction/resolveSupport/properties"), "command");
    capabilities.codeActionData = flag(root, "/textDocument/codeAction/dataSupport");
    capabilities.codeActionIsPreferred = flag(root, "/textDocument/codeAction/isPreferredSupport");
    capabilities.codeActionDisabled = flag(root, "/textDocument/codeAction/disabledSupport");
    capabilities.codeLensRefresh = flag(root, "/workspace/codeLens/refreshSupport");
    capabilities.inlayHintRefresh = flag(root, "/workspace/inlayHint/refreshSupport");
    capabilities.hoverMarkdown =
        listHolds(at(root, "/textDocument/hover/contentFormat"), "markdown");
    capabilities.diagnosticRelatedInformation =
        flag(root, "/textDocument/publishDiagnostics/relatedInformation");
    capabilities.diagnosticCodeDescription =
        flag(root, "/textDocument/publishDiagnostics/codeDescriptionSupport");
    capabilities.diagnosticVersion = flag(root, "/textDocument/publishDiagnostics/versionSupport");
    capabilities.workDoneProgress = flag(root, "/window/workDoneProgress");
    capabilities.watchedFilesRegistration =
        flag(root, "/workspace/didChangeWatchedFiles/dynamicRegistration");
    capabilities.languageModel = flag(root, "/experimental/kernelskill/languageModel");
    capabilities.noticeActions = flag(root, "/experimental/kernelskill/noticeActions");
    capabilities.programProfiles = flag(root, "/experimental/kernelskill/programProfiles");
    capabilities.foldedHover = flag(root, "/experimental/kernelskill/foldedHover");
}

} // namespace kernelskill::lsp
