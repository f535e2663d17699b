/// The tasks of VS Code's tasks.json as commands.
#pragma once

#include "analysis/source/error.h"
#include "engine/program/vscode_variables.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

struct VscodeTask {
    std::string label;
    std::vector<std::string> command; ///< Its own command, which runs after `before`.
    std::filesystem::path folder;
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<std::vector<std::string>> before; ///< The commands of `dependsOn`, in their order.
    bool isRun = false; ///< It is in the group "test", or its label begins with "run".
};

/// The tasks by reading `tasks.json`. Unsupported for a task by its label if it needs what only VS
/// Code knows.
class VscodeTasks {
public:
    /// `document`: an object, as tasks.json holds it. Both outlive this.
    VscodeTasks(const nlohmann::json& document, const VscodeVariables& variables);

    [[nodiscard]] std::vector<std::string> labels() const;
    [[nodiscard]] Result<VscodeTask> task(const std::string& label) const;
    /// The task's commands as one that runs in `folder`.
    [[nodiscard]] Result<std::vector<std::string>> build(const std::string& label,
                                                         const std::filesystem::path& folder) const;

private:
    [[nodiscard]] const nlohmann::json* find(const std::string& label) const;
    [[nodiscard]] Result<VscodeTask> task(const std::string& label, int depth) const;

    const nlohmann::json& document_;
    const VscodeVariables& variables_;
};

} // namespace kernelskill::engine
