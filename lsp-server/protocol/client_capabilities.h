/// The client's capabilities that this server's behaviour depends on. Absent means it cannot.
#pragma once

#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::lsp {

struct ClientCapabilities {
    PositionEncoding positionEncoding =
        PositionEncoding::Utf16; ///< The first of the client's that we speak.
    bool configuration = false;  ///< workspace/configuration
    bool didChangeConfigurationRegistration = false;
    bool applyEdit = false;                ///< workspace/applyEdit
    bool documentChanges = false;          ///< workspace.workspaceEdit.documentChanges
    bool changeAnnotations = false;        ///< workspace.workspaceEdit.changeAnnotationSupport
    bool codeActionLiterals = false;       ///< else only commands
    bool codeActionResolveEdit = false;    ///< resolveSupport lists "edit"
    bool codeActionResolveCommand = false; ///< resolveSupport lists "command"
    bool codeActionData = false;
    bool codeActionIsPreferred = false;
    bool codeActionDisabled = false; ///< It shows why an action cannot be had.
    bool codeLensRefresh = false;
    bool inlayHintRefresh = false;
    bool hoverMarkdown = false;
    bool diagnosticRelatedInformation = false;
    bool diagnosticCodeDescription = false;
    bool diagnosticVersion = false;
    bool workDoneProgress = false; ///< window/workDoneProgress/create
    bool watchedFilesRegistration = false;
    bool languageModel = false;   ///< experimental.kernelskill.languageModel: see EditorModel.
    bool noticeActions = false;   ///< experimental.kernelskill.noticeActions: messages have buttons
                                  ///< that do not keep the user from working.
    bool programProfiles = false; ///< experimental.kernelskill.programProfiles: it shows profiles
                                  ///< of programs, and hears `kernelskill/programProfiled`.
    bool foldedHover = false;     ///< experimental.kernelskill.foldedHover: hovers draw <details>.
};

void from_json(const nlohmann::json& json, ClientCapabilities& capabilities);

} // namespace kernelskill::lsp
