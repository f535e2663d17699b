/// Parameters of textDocument/did* and the identifiers that other requests share.
#pragma once

#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

struct TextDocumentItem {
    std::string uri;
    std::string languageId;
    int version = 0;
    std::string text;
};

struct TextDocumentContentChangeEvent {
    std::optional<Range> range; ///< nullopt: `text` is the whole document.
    std::string text;
};

struct DidChangeTextDocumentParams {
    std::string uri;
    std::optional<int> version;
    std::vector<TextDocumentContentChangeEvent> contentChanges;
};

struct TextDocumentPositionParams {
    std::string uri;
    Position position;
};

struct TextDocumentRangeParams {
    std::string uri;
    Range range;
};

struct WorkspaceFolder {
    std::string uri;
    std::string name;
};

struct TextEdit {
    Range range;
    std::string newText;
};

void from_json(const nlohmann::json& json, TextDocumentItem& item);
void from_json(const nlohmann::json& json, TextDocumentContentChangeEvent& event);
void from_json(const nlohmann::json& json, DidChangeTextDocumentParams& params);
void from_json(const nlohmann::json& json, TextDocumentPositionParams& params);
void from_json(const nlohmann::json& json, TextDocumentRangeParams& params);
void from_json(const nlohmann::json& json, WorkspaceFolder& folder);
void to_json(nlohmann::json& json, const TextEdit& edit);

/// `params.textDocument.uri`.
[[nodiscard]] std::string textDocumentUri(const nlohmann::json& params);

} // namespace kernelskill::lsp
