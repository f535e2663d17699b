#include "engine/program/vscode_task.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "engine/program/json_with_comments.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace kernelskill::engine {

using nlohmann::json;

namespace {

constexpr int maxDependences = 8; // of tasks on tasks

std::string labelOf(const json& task) {
    const std::string label = textOfKey(task, "label");
    return label.empty() ? textOfKey(task, "taskName") : label;
}

bool isRunTask(const json& task, std::string_view label) {
    const auto group = task.find("group");
    const bool isTest =
        group != task.end() &&
        (*group == "test" || (group->is_object() && textOfKey(*group, "kind") == "test"));
    const bool isRun =
        label.size() >= 3 &&
        std::ranges::equal(label.substr(0, 3), std::string_view("run"), [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) == b;
        });
    return isTest || (isRun && (label.size() == 3 ||
                                std::isalpha(static_cast<unsigned char>(label[3])) == 0));
}

Result<std::vector<std::string>> dependences(const json& task) {
    const auto found = task.find("dependsOn");
    if (found == task.end())
        return {};
    const json list = found->is_array() ? *found : json::array({*found});
    std::vector<std::string> labels;
    for (const json& each : list) {
        if (!each.is_string())
            return std::unexpected(
                Error{ErrorKind::Unsupported, "it depends on a task of an extension", {}, {}});
        labels.push_back(each.get<std::string>());
    }
    return labels;
}

/// The task's own command. A shell's line stays one word; arguments are words of their own.
Result<std::vector<std::string>> ownCommand(const json& task, const VscodeVariables& variables) {
    const std::string type = textOfKey(task, "type");
    if (type != "shell" && type != "process" && type != "cppbuild" && !type.empty())
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     fmt::format("only VS Code runs tasks of type \"{}\"", type),
                                     {},
                                     {}});
    const auto command = task.find("command");
    if (command == task.end())
        return {};
    const json line = command->is_object() ? command->value("value", json()) : *command;
    if (!line.is_string())
        return std::unexpected(Error{ErrorKind::InvalidInput, "`command` is not a text", {}, {}});
    KERNELSKILL_TRY(const auto text, variables.replaced(line.get<std::string>()));
    KERNELSKILL_TRY(const auto arguments, variables.words(task, "args"));
    const bool isLine = type == "shell" || type.empty();
    auto words = isLine ? commandWords(text) : std::vector<std::string>{text};
    if (isLine && !arguments.empty() && words.size() == 3 && words[1] == "-c") {
        words[2] += " " + commandText(arguments);
        return words;
    }
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

/// The command as it runs from another folder and without the variables.
std::vector<std::string> standingAlone(const VscodeTask& task,
                                       const std::filesystem::path& folder) {
    std::vector<std::string> words = task.command;
    if (!task.environment.empty()) {
        std::vector<std::string> with{"env"};
        for (const auto& [name, value] : task.environment)
            with.push_back(name + "=" + value);
        words.insert(words.begin(), with.begin(), with.end());
    }
    return task.folder == folder ? words
                                 : joinedCommands({{"cd", task.folder.string()}, std::move(words)});
}

} // namespace

VscodeTasks::VscodeTasks(const json& document, const VscodeVariables& variables)
    : document_(document), variables_(variables) {}

std::vector<std::string> VscodeTasks::labels() const {
    std::vector<std::string> labels;
    if (const auto tasks = document_.find("tasks"); tasks != document_.end() && tasks->is_array())
        for (const json& task : *tasks)
            if (task.is_object() && !labelOf(task).empty())
                labels.push_back(labelOf(task));
    return labels;
}

const json* VscodeTasks::find(const std::string& label) const {
    if (const auto tasks = document_.find("tasks"); tasks != document_.end() && tasks->is_array())
        for (const json& task : *tasks)
            if (task.is_object() && labelOf(task) == label)
                return &task;
    return nullptr;
}

Result<VscodeTask> VscodeTasks::task(const std::string& label) const {
    return task(label, 0);
}

Result<VscodeTask> VscodeTasks::task(const std::string& label, int depth) const {
    const json* found = find(label);
    if (found == nullptr || depth > maxDependences)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     found == nullptr
                                         ? fmt::format("tasks.json has no task \"{}\"", label)
                                         : "its tasks depend on each other in a circle",
                                     {},
                                     {}});
    const json task = forLinux(*found);
    VscodeTask result;
    result.label = label;
    result.isRun = isRunTask(task, label);
    KERNELSKILL_TRY(result.command, ownCommand(task, variables_));
    const json options = task.value("options", json::object());
    if (!options.is_object())
        return std::unexpected(Error{ErrorKind::InvalidInput, "`options` is no object", {}, {}});
    KERNELSKILL_TRY(result.folder, variables_.path(options, "cwd"));
    KERNELSKILL_TRY(result.environment, variables_.environment(options, "env"));
    KERNELSKILL_TRY(const auto labels, dependences(task));
    for (const std::string& each : labels) {
        KERNELSKILL_TRY(auto other, this->task(each, depth + 1));
        result.before.insert(result.before.end(), other.before.begin(), other.before.end());
        if (!other.command.empty())
            result.before.push_back(standingAlone(other, result.folder));
    }
    return result;
}

Result<std::vector<std::string>> VscodeTasks::build(const std::string& label,
                                                    const std::filesystem::path& folder) const {
    KERNELSKILL_TRY(auto task, this->task(label));
    auto commands = std::move(task.before);
    if (!task.command.empty())
        commands.push_back(standingAlone(task, folder));
    return joinedCommands(commands);
}

} // namespace kernelskill::engine
