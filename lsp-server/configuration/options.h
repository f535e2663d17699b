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

/// A setting that is an object: JSON text, read by those who use it.
struct ObjectSetting {
    std::string text = "{}";
    bool operator==(const ObjectSetting&) const = default;
};

struct Options {
    std::string cudaPath;
    bool ignoreToolkit = false;
    std::vector<std::string> fallbackFlags;
    std::string compilationDatabase;
    bool executionEnabled = true;
    std::string hostCompiler;
    bool profileOnSave = false;
    bool profileProgramOnSave = false;
    bool verifyOnSave = false;
    ObjectSetting program; ///< Workloads by name; see engine/program/workload_json.h.
    bool gpuEnabled = true;
    std::string gpuOn = "gpu";
    bool gpuSanitizer = false;
    std::string slurmPartition;
    std::string slurmGres = "gpu:1";
    std::string slurmTimeLimit = "0:30:00";
    std::string slurmAccount;
    std::vector<std::string> slurmArguments;
    double slurmSlots = 1;
    double slurmIdleSeconds = 60;
    std::string slurmRunner;
    std::string slurmSrun;
    std::string gpu = "H200";
    bool diagnosticsEnabled = true;
    bool hazardDiagnostics = true;
    bool inlayHintsEnabled = true;
    bool codeLensEnabled = true;
    bool previewOptimize = true;
    bool previewSkills = false;
    bool modelEnabled = false;
    std::string modelProvider = "anthropic";
    std::string modelEndpoint;
    std::string modelName;
    std::string modelKeyVariable;
    double modelMaxCalls = 20;
    double modelMaxTokens = 400'000;
    double modelMaxCost = 0;
    double modelInputPrice = 0;
    double modelOutputPrice = 0;
    bool operator==(const Options&) const = default;
};

struct OptionDescription {
    std::string_view name; ///< "parse.cudaPath": the path below the section "kernelskill".
    std::variant<bool Options::*, std::string Options::*, std::vector<std::string> Options::*,
                 double Options::*, ObjectSetting Options::*>
        field;
    std::string_view description; ///< Markdown.
    /// Only the user sets it; a workspace's value is ignored. Such a setting may send code and
    /// secrets elsewhere.
    bool isUsersAlone = false;
};

[[nodiscard]] std::span<const OptionDescription> optionTable();

/// Sets in `options` what `section` (the value of "kernelskill") holds and leaves the rest. Returns
/// what it could not use, one sentence each: values of a wrong type and unknown names.
[[nodiscard]] std::vector<std::string> readOptions(const nlohmann::json& section, Options& options);

/// `contributes.configuration.properties` of VS Code's package.json: "kernelskill.<name>" → {type,
/// default, description, scope}.
[[nodiscard]] nlohmann::json configurationSchema();

} // namespace kernelskill::lsp
