#include "lsp-server/protocol/text_document.h"

#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"

namespace kernelskill::lsp {

void from_json(const nlohmann::json& json, TextDocumentItem& item) {
    json.at("uri").get_to(item.uri);
    item.languageId = json.value("languageId", "");
    item.version = analysis::integerIn<int>(json, "version").value_or(0);
    json.at("text").get_to(item.text);
}

void from_json(const nlohmann::json& json, TextDocumentContentChangeEvent& event) {
    if (const auto range = json.find("range"); range != json.end() && !range->is_null())
        event.range = range->get<Range>();
    json.at("text").get_to(event.text);
}

void from_json(const nlohmann::json& json, DidChangeTextDocumentParams& params) {
    params.uri = textDocumentUri(json);
    const auto& document = json.at("textDocument");
    if (const auto version = analysis::integerIn<int>(document, "version"))
        params.version = *version;
    json.at("contentChanges").get_to(params.contentChanges);
}

void from_json(const nlohmann::json& json, TextDocumentPositionParams& params) {
    params.uri = textDocumentUri(json);
    json.at("position").get_to(params.position);
}

void from_json(const nlohmann::json& json, TextDocumentRangeParams& params) {
    params.uri = textDocumentUri(json);
    json.at("range").get_to(params.range);
}

void from_json(const nlohmann::json& json, WorkspaceFolder& folder) {
    json.at("uri").get_to(folder.uri);
    folder.name = json.value("name", "");
}

void to_json(nlohmann::json& json, const TextEdit& edit) {
    json = {{"range", edit.range}, {"newText", edit.newText}};
}

std::string textDocumentUri(const nlohmann::json& params) {
    return params.at("textDocument").at("uri").get<std::string>();
}

} // namespace kernelskill::lsp
