#include "lsp-server/protocol/language_features.h"

#include "analysis/source/json.h"

namespace kernelskill::lsp {

void to_json(nlohmann::json& json, const Diagnostic& diagnostic) {
    json = {{"range", diagnostic.range},
            {"severity", static_cast<int>(diagnostic.severity)},
            {"source", "kernelskill"},
            {"message", diagnostic.message}};
    if (!diagnostic.code.empty())
        json["code"] = diagnostic.code;
    if (!diagnostic.codeDescription.empty())
        json["codeDescription"] = {{"href", diagnostic.codeDescription}};
    if (diagnostic.relatedInformation.empty())
        return;
    nlohmann::json& related = json["relatedInformation"] = nlohmann::json::array();
    for (const DiagnosticRelatedInformation& place : diagnostic.relatedInformation)
        related.push_back({{"location", {{"uri", place.uri}, {"range", place.range}}},
                           {"message", place.message}});
}

void to_json(nlohmann::json& json, const Command& command) {
    json = {{"title", command.title}, {"command", command.command}};
    if (command.argument)
        json["arguments"] = nlohmann::json::array({*command.argument});
}

void to_json(nlohmann::json& json, const InlayHint& hint) {
    json = {{"position", hint.position}, {"label", hint.label}, {"paddingLeft", true}};
    if (!hint.tooltip.empty())
        json["tooltip"] = {{"kind", "markdown"}, {"value", hint.tooltip}};
}

} // namespace kernelskill::lsp
