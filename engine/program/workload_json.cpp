#include "engine/program/workload_json.h"

#include "analysis/source/json.h"
#include "engine/program/command_words.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::engine {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 6> keys{"command", "folder", "environment",
                                               "build",   "check",  "pattern"};

/// Words of a command; nullopt if the value is no text and no list of texts.
std::optional<std::vector<std::string>> wordsOf(const json& value) {
    if (value.is_string())
        return commandWords(value.get<std::string>());
    if (!value.is_array() ||
        !std::ranges::all_of(value, [](const json& word) { return word.is_string(); }))
        return std::nullopt;
    return value.get<std::vector<std::string>>();
}

/// Fills `workload` from the entry. Returns what is wrong with the entry; empty if nothing is.
std::string readEntry(const json& entry, const std::filesystem::path& root, Workload& workload) {
    if (!entry.is_object())
        return "it is no object with a `command`";
    for (const auto& [key, value] : entry.items())
        if (std::ranges::find(keys, key) == keys.end())
            return fmt::format("there is no `{}`; there are {}", key, fmt::join(keys, ", "));
    struct Command {
        const char* key;
        std::vector<std::string>& words;
    };
    for (const auto& [key, words] :
         {Command{"command", workload.command}, Command{"build", workload.build},
          Command{"check", workload.check}}) {
        const auto given = wordsOf(entry.value(key, json::array()));
        if (!given)
            return fmt::format("`{}` is neither a text nor a list of words", key);
        words = *given;
    }
    if (workload.command.empty() || workload.command.front().empty())
        return "its `command` is missing";
    const json folder = entry.value("folder", json(""));
    const json pattern = entry.value("pattern", json(""));
    if (!folder.is_string() || !pattern.is_string())
        return "`folder` and `pattern` are texts";
    workload.folder = (root / folder.get<std::string>()).lexically_normal();
    if (!workload.folder.has_filename())
        workload.folder = workload.folder.parent_path();
    workload.pattern = pattern;
    const json environment = entry.value("environment", json::object());
    if (!environment.is_object())
        return "`environment` is no object of names and texts";
    for (const auto& [name, value] : environment.items()) {
        if (!value.is_string() || name.empty() || name.contains('='))
            return "`environment` is no object of names and texts";
        workload.environment.emplace_back(name, value.get<std::string>());
    }
    return {};
}

} // namespace

FoundWorkloads readWorkloads(const json& section, const std::filesystem::path& root,
                             const std::string& origin) {
    FoundWorkloads found;
    if (!section.is_object()) {
        found.notes.push_back(
            fmt::format("{}: kernelskill.program is no object of programs by name", origin));
        return found;
    }
    for (const auto& [name, entry] : section.items()) {
        Workload workload;
        workload.name = name;
        workload.origin = origin;
        const std::string problem =
            name.empty() ? "it has no name" : readEntry(entry, root, workload);
        if (problem.empty())
            found.workloads.push_back(std::move(workload));
        else
            found.notes.push_back(
                fmt::format("{}: the program \"{}\" is left out: {}", origin, name, problem));
    }
    return found;
}

json workloadJson(const Workload& workload) {
    json environment = json::object();
    for (const auto& [name, value] : workload.environment)
        environment[name] = value;
    return {{"name", workload.name},
            {"command", workload.command},
            {"folder", workload.folder.string()},
            {"environment", std::move(environment)},
            {"build", workload.build},
            {"check", workload.check},
            {"pattern", workload.pattern},
            {"origin", workload.origin}};
}

} // namespace kernelskill::engine
