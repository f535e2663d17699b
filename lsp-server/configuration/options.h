/// The settings, declared once. The server, the schema for editors and the documentation read this
/// table.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernelskill::lsp {

struct Options {
    std::string cudaPath;
    bool ignoreToolkit = false;
    std::vector<std::string> fallbackFlags;
    std::string compilationDatabase;
    bool executionEnabled = true;
    std::string hostCompiler;
    bool gpuEnabled = true;
    std::string gpu = "H200";
    bool diagnosticsEnabled = true;
    bool hazardDiagnostics = true;
    bool inlayHintsEnabled = true;
    bool codeLensEnabled = true;
    bool operator==(const Options&) const = default;
};

struct OptionDescription {
    std::string_view name; ///< "parse.cudaPath": the path below the section "kernelskill".
    std::variant<bool Options::*, std::string Options::*, std::vector<std::string> Options::*>
        field;
    std::string_view description; ///< Markdown.
};

[[nodiscard]] std::span<const OptionDescription> optionTable();

/// Sets in `options` what `section` (the value of "kernelskill") holds and leaves the rest. Returns
/// what it could not use, one sentence each: values of a wrong type and unknown names.
[[nodiscard]] std::vector<std::string> readOptions(const nlohmann::json& section, Options& options);

/// `contributes.configuration.properties` of VS Code's package.json: "kernelskill.<name>" → {type,
/// default, description, scope}.
[[nodiscard]] nlohmann::json configurationSchema();

} // namespace kernelskill::lsp
