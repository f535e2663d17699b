#include "lsp-server/protocol/server_capabilities.h"

#include "analysis/source/json.h"

namespace kernelskill::lsp {

using nlohmann::json;

json serverCapabilities(const ClientCapabilities& client) {
    constexpr int incremental = 2;
    json codeActions = true;
    if (client.codeActionLiterals)
        codeActions = {{"codeActionKinds",
                        {"quickfix", "refactor.rewrite", "refactor.explain", "source.optimize"}},
                       // Some clients resolve whatever they are given where this is true.
                       {"resolveProvider", client.codeActionResolveEdit && client.codeActionData}};
    return {{"positionEncoding", spelling(client.positionEncoding)},
            {"textDocumentSync",
             {{"openClose", true}, {"change", incremental}, {"save", {{"includeText", false}}}}},
            {"hoverProvider", true},
            {"codeLensProvider", {{"resolveProvider", true}}},
            {"inlayHintProvider", {{"resolveProvider", false}}},
            {"codeActionProvider", std::move(codeActions)},
            {"executeCommandProvider",
             {{"commands",
               {"kernelskill.profile", "kernelskill.applySkill", "kernelskill.applyFix",
                "kernelskill.optimize", "kernelskill.optimizeProgram", "kernelskill.generate",
                "kernelskill.generateModel", "kernelskill.repair", "kernelskill.showMemory",
                "kernelskill.explain", "kernelskill.explainOffers", "kernelskill.pinLaunch",
                "kernelskill.tellApplied", "kernelskill.verify", "kernelskill.pickProgram",
                "kernelskill.runProgram", "kernelskill.profileProgram",
                "kernelskill.showProgramProfile"}},
              {"workDoneProgress", true}}},
            {"workspace",
             {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
}

} // namespace kernelskill::lsp
