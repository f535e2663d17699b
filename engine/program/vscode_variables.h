/// `${workspaceFolder}` and its like in VS Code's files.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

class VscodeVariables {
public:
    explicit VscodeVariables(std::filesystem::path folder) : folder_(std::move(folder)) {}

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    /// The text with variables replaced: the workspace's folder, the user's home, `${env:NAME}`.
    /// Unsupported for those that an open file, a command or an answer decides.
    [[nodiscard]] Result<std::string> replaced(std::string_view text) const;

    /// The words of an array of texts, where an element may be `{"value": text}`; those of a line
    /// if it is one text; none if it is absent.
    [[nodiscard]] Result<std::vector<std::string>> words(const nlohmann::json& object,
                                                         const char* key) const;
    /// `{NAME: value}`, or `[{"name": ..., "value": ...}]`; none if it is absent.
    [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>>
    environment(const nlohmann::json& object, const char* key) const;
    /// A folder, relative ones from the workspace's; the workspace's if it is absent.
    [[nodiscard]] Result<std::filesystem::path> path(const nlohmann::json& object,
                                                     const char* key) const;

private:
    std::filesystem::path folder_;
};

/// The object with what it has for Linux over what it has for all.
[[nodiscard]] nlohmann::json forLinux(const nlohmann::json& object);

} // namespace kernelskill::engine
