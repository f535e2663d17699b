#include "engine/program/vscode_workloads.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "engine/program/json_with_comments.h"
#include "engine/program/vscode_task.h"
#include "engine/program/vscode_variables.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {

using nlohmann::json;

namespace {

/// The document of a file of `.vscode/`; an empty object if there is none or it cannot be read,
/// which a note says.
json readObject(const std::filesystem::path& file, std::vector<std::string>& notes) {
    if (!analysis::isFile(file))
        return json::object();
    auto document = readJsonWithComments(file);
    if (document && document->is_object())
        return std::move(*document);
    notes.push_back(document ? fmt::format("{}: it is no JSON object", file.string())
                             : document.error().describe());
    return json::object();
}

/// Python's configurations name a script or a module, the others a program.
Result<std::vector<std::string>> programOf(const json& configuration,
                                           const VscodeVariables& variables) {
    const std::string type = textOfKey(configuration, "type");
    const bool isPython = type == "debugpy" || type == "python";
    const std::string module = isPython ? textOfKey(configuration, "module") : "";
    KERNELSKILL_TRY(
        const auto program,
        variables.replaced(module.empty() ? textOfKey(configuration, "program") : module));
    if (program.empty())
        return std::unexpected(Error{ErrorKind::Unsupported, "it names no program", {}, {}});
    if (!module.empty())
        return std::vector<std::string>{"python3", "-m", program};
    return isPython ? std::vector<std::string>{"python3", program} : std::vector{program};
}

Result<Workload> workloadOf(const json& written, const VscodeVariables& variables,
                            const VscodeTasks& tasks) {
    const json configuration = forLinux(written);
    Workload workload;
    workload.name = textOfKey(configuration, "name");
    workload.origin = ".vscode/launch.json";
    if (workload.name.empty())
        return std::unexpected(Error{ErrorKind::InvalidInput, "it has no name", {}, {}});
    KERNELSKILL_TRY(workload.command, programOf(configuration, variables));
    KERNELSKILL_TRY(const auto arguments, variables.words(configuration, "args"));
    workload.command.insert(workload.command.end(), arguments.begin(), arguments.end());
    KERNELSKILL_TRY(workload.folder, variables.path(configuration, "cwd"));
    for (const char* key : {"env", "environment"}) {
        KERNELSKILL_TRY(auto more, variables.environment(configuration, key));
        std::ranges::move(more, std::back_inserter(workload.environment));
    }
    if (const std::string label = textOfKey(configuration, "preLaunchTask"); !label.empty()) {
        KERNELSKILL_TRY(workload.build, tasks.build(label, workload.folder));
    }
    return workload;
}

void addConfigurations(const json& launch, const VscodeVariables& variables,
                       const VscodeTasks& tasks, FoundWorkloads& found) {
    const auto configurations = launch.find("configurations");
    if (configurations == launch.end() || !configurations->is_array())
        return;
    for (const json& configuration : *configurations) {
        if (!configuration.is_object() || textOfKey(configuration, "request") == "attach")
            continue;
        auto workload = workloadOf(configuration, variables, tasks);
        if (workload)
            found.workloads.push_back(std::move(*workload));
        else
            found.notes.push_back(fmt::format(".vscode/launch.json, \"{}\": {}",
                                              textOfKey(configuration, "name"),
                                              workload.error().what));
    }
}

void addTasks(const VscodeTasks& tasks, FoundWorkloads& found) {
    for (const std::string& label : tasks.labels()) {
        const auto task = tasks.task(label);
        if (!task || !task->isRun || task->command.empty())
            continue;
        Workload workload;
        workload.name = label;
        workload.origin = ".vscode/tasks.json";
        workload.command = task->command;
        workload.folder = task->folder;
        workload.environment = task->environment;
        if (!task->before.empty())
            workload.build = joinedCommands(task->before);
        found.workloads.push_back(std::move(workload));
    }
}

} // namespace

FoundWorkloads vscodeWorkloads(const std::filesystem::path& folder) {
    FoundWorkloads found;
    const json launch = readObject(folder / ".vscode" / "launch.json", found.notes);
    const json document = readObject(folder / ".vscode" / "tasks.json", found.notes);
    const VscodeVariables variables(folder);
    const VscodeTasks tasks(document, variables);
    addConfigurations(launch, variables, tasks, found);
    addTasks(tasks, found);
    return found;
}

} // namespace kernelskill::engine
