/// The answers of the language features, as the specification spells them.
#pragma once

#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

enum class DiagnosticSeverity : int { Error = 1, Warning = 2, Information = 3, Hint = 4 };

struct DiagnosticRelatedInformation {
    std::string uri;
    Range range;
    std::string message;
};

struct Diagnostic {
    Range range;
    DiagnosticSeverity severity = DiagnosticSeverity::Error;
    std::string code;
    std::string codeDescription; ///< A URI; empty: none.
    std::string message;
    std::vector<DiagnosticRelatedInformation> relatedInformation;
};

/// `source` is always "kernelskill".
void to_json(nlohmann::json& json, const Diagnostic& diagnostic);

/// `arguments` is one object.
struct Command {
    std::string title;
    std::string command;
    std::shared_ptr<const nlohmann::json> argument; ///< Null: none.
};
void to_json(nlohmann::json& json, const Command& command);

struct InlayHint {
    Position position;
    std::string label;
    std::string tooltip; ///< Markdown
};
void to_json(nlohmann::json& json, const InlayHint& hint);

} // namespace kernelskill::lsp
