#include "engine/program/cmake_project.h"

#include "analysis/source/files.h"
#include "engine/program/cmake_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::optional<std::string>>;

constexpr std::size_t maxFiles = 200;
constexpr int maxCmakeExpansions = 20;
constexpr std::size_t maxCmakeBytes = 1u << 16;

/// The text with ${NAME} replaced; nullopt if one is unknown.
std::optional<std::string> expand(std::string_view text, const Variables& variables,
                                  int depth = 0) {
    std::string result;
    while (!text.empty()) {
        const auto begin = text.find("${");
        result += text.substr(0, begin);
        if (begin == std::string_view::npos)
            break;
        const auto end = text.find('}', begin);
        if (end == std::string_view::npos || depth > maxCmakeExpansions)
            return std::nullopt;
        const auto found = variables.find(std::string(text.substr(begin + 2, end - begin - 2)));
        if (found == variables.end() || !found->second)
            return std::nullopt;
        const auto value = expand(*found->second, variables, depth + 1);
        if (!value || result.size() + value->size() > maxCmakeBytes)
            return std::nullopt;
        result += *value;
        text.remove_prefix(end + 1);
    }
    return result;
}

bool isCudaFile(const std::string& name) {
    return name.ends_with(".cu");
}

/// Reads one folder after another, variables of the outer ones known in the inner ones.
class ProjectReader {
public:
    ProjectReader(CmakeProject& project, fs::path root)
        : project_(project), root_(std::move(root)) {}

    void read(const fs::path& folder, const fs::path& binary, Variables variables) {
        const auto file = folder / "CMakeLists.txt";
        if (!analysis::isBelow(folder, root_) || seen_.size() >= maxFiles ||
            !seen_.insert(file).second)
            return;
        const auto text = analysis::readFile(file);
        if (!text)
            return;
        variables["CMAKE_CURRENT_SOURCE_DIR"] = folder.string();
        variables["CMAKE_CURRENT_LIST_DIR"] = folder.string();
        variables["CMAKE_CURRENT_BINARY_DIR"] = (fs::path(".") / binary).string();
        int bodies = 0;
        for (const CmakeCommand& command : readCmakeCommands(*text)) {
            if (command.name == "function" || command.name == "macro" || command.name == "foreach")
                ++bodies;
            else if (command.name == "endfunction" || command.name == "endmacro" ||
                     command.name == "endforeach")
                bodies -= bodies > 0 ? 1 : 0;
            else if (bodies > 0)
                noteInBody(command, file);
            else
                readCommand(command, {folder, file, binary}, variables);
        }
    }

private:
    struct Place {
        fs::path folder;
        fs::path file;
        fs::path binary; ///< Below the build folder.
    };

    void noteInBody(const CmakeCommand& command, const fs::path& file) {
        if (command.name == "add_executable" || command.name == "cuda_add_executable")
            noteComputed(command, file);
    }

    void noteComputed(const CmakeCommand& command, const fs::path& file) {
        project_.notes.push_back(fmt::format(
            "{}:{}: the name of this executable is computed; it is found once the project is "
            "configured and CMake's File API was asked (CMake Tools of VS Code does)",
            file.string(), command.line));
    }

    void readCommand(const CmakeCommand& command, const Place& place, Variables& variables) {
        const auto& words = command.arguments;
        if (words.empty())
            return;
        if (command.name == "set")
            set(words, variables);
        else if (command.name == "project")
            variables["PROJECT_NAME"] = expand(words[0], variables);
        else if (command.name == "add_executable" || command.name == "cuda_add_executable")
            addExecutable(command, place, variables);
        else if (command.name == "add_subdirectory")
            addFolder(words[0], place, variables);
        else if (command.name == "add_test")
            addTest(command, place, variables);
        else if (command.name == "set_target_properties")
            setProperties(words, variables);
    }

    static void set(const std::vector<std::string>& words, Variables& variables) {
        std::string value;
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i] == "CACHE" || words[i] == "PARENT_SCOPE")
                break;
            value += (value.empty() ? "" : ";") + words[i];
        }
        variables[words[0]] = expand(value, variables);
    }

    void addExecutable(const CmakeCommand& command, const Place& place,
                       const Variables& variables) {
        const auto& words = command.arguments;
        if (std::ranges::find(words, "IMPORTED") != words.end() ||
            std::ranges::find(words, "ALIAS") != words.end())
            return;
        const auto name = expand(words[0], variables);
        if (!name || name->empty() || name->contains("$<"))
            return noteComputed(command, place.file);
        CmakeExecutable executable{*name, place.file, command.line, false, std::nullopt};
        for (const std::string& word : words) {
            const auto sources = expand(word, variables);
            executable.hasCudaSource |=
                sources && (isCudaFile(*sources) || sources->contains(".cu;"));
        }
        executable.path = folderOf(place, variables);
        if (executable.path)
            *executable.path /= *name;
        project_.executables.push_back(std::move(executable));
    }

    /// The folder that the executables of a source folder are built into.
    static std::optional<fs::path> folderOf(const Place& place, const Variables& variables) {
        for (const char* name : {"CMAKE_RUNTIME_OUTPUT_DIRECTORY", "EXECUTABLE_OUTPUT_PATH"})
            if (const auto set = variables.find(name); set != variables.end())
                return outputFolder(set->second);
        return place.binary;
    }

    static std::optional<fs::path> outputFolder(const std::optional<std::string>& value) {
        if (!value || value->contains("$<"))
            return std::nullopt;
        return fs::path(*value);
    }

    void addFolder(const std::string& written, const Place& place, const Variables& variables) {
        const auto name = expand(written, variables);
        if (!name || name->empty())
            return;
        const auto folder = (place.folder / *name).lexically_normal();
        read(folder.has_filename() ? folder : folder.parent_path(),
             (place.binary / folder.lexically_relative(place.folder)).lexically_normal(),
             variables);
    }

    void addTest(const CmakeCommand& command, const Place& place, const Variables& variables) {
        constexpr std::array<std::string_view, 5> keys{"NAME", "COMMAND", "WORKING_DIRECTORY",
                                                       "CONFIGURATIONS", "COMMAND_EXPAND_LISTS"};
        const bool isNamed = command.arguments[0] == "NAME";
        CmakeTest test{{}, {}, std::nullopt, place.file, command.line};
        std::string_view key = isNamed ? "" : "NAME";
        for (const std::string& written : command.arguments) {
            if (isNamed && std::ranges::find(keys, written) != keys.end()) {
                key = written;
                continue;
            }
            const auto word = expand(written, variables);
            if (!word || (word->contains("$<") && !isTargetFile(*word))) {
                project_.notes.push_back(
                    fmt::format("{}:{}: the command of this test is computed by CMake ({})",
                                place.file.string(), command.line, written));
                return;
            }
            if (key == "NAME")
                test.name = *word;
            else if (key == "COMMAND")
                test.command.push_back(isTargetFile(*word) ? targetOf(*word) : *word);
            else if (key == "WORKING_DIRECTORY")
                test.folder = *word;
            if (!isNamed)
                key = "COMMAND";
        }
        if (!test.name.empty() && !test.command.empty())
            project_.tests.push_back(std::move(test));
    }

    static bool isTargetFile(std::string_view word) {
        return word.starts_with("$<TARGET_FILE:") && word.find('>') == word.size() - 1;
    }
    static std::string targetOf(std::string_view word) {
        return std::string(word.substr(14, word.size() - 15));
    }

    void setProperties(const std::vector<std::string>& words, const Variables& variables) {
        const auto keyword = std::ranges::find(words, "PROPERTIES");
        for (auto name = words.begin(); name != keyword && name != words.end(); ++name) {
            const auto target = expand(*name, variables);
            const auto found =
                std::ranges::find_if(project_.executables, [&](const CmakeExecutable& each) {
                    return target && each.name == *target;
                });
            if (found == project_.executables.end())
                continue;
            for (auto key = keyword; key != words.end() && ++key != words.end();) {
                const std::string property = *key;
                if (++key == words.end())
                    break;
                const auto value = expand(*key, variables);
                if (property == "OUTPUT_NAME" || property == "RUNTIME_OUTPUT_NAME") {
                    if (!value || value->contains("$<"))
                        found->path.reset();
                    else if (found->path)
                        found->path->replace_filename(*value);
                } else if (property == "RUNTIME_OUTPUT_DIRECTORY") {
                    const auto folder = outputFolder(value);
                    const auto file = found->path ? found->path->filename() : fs::path(found->name);
                    found->path = folder ? std::optional(*folder / file) : std::nullopt;
                }
            }
        }
    }

    CmakeProject& project_;
    fs::path root_;
    std::set<fs::path> seen_;
};

} // namespace

const CmakeExecutable* CmakeProject::find(const std::string& name) const {
    const auto found = std::ranges::find(executables, name, &CmakeExecutable::name);
    return found == executables.end() ? nullptr : &*found;
}

CmakeProject readCmakeProject(const fs::path& folder) {
    CmakeProject project;
    // The build folder is not known here: paths below it are relative.
    Variables variables{{"CMAKE_SOURCE_DIR", folder.string()},
                        {"PROJECT_SOURCE_DIR", folder.string()},
                        {"CMAKE_BINARY_DIR", "."},
                        {"PROJECT_BINARY_DIR", "."}};
    ProjectReader(project, folder).read(folder, {}, std::move(variables));
    return project;
}

} // namespace kernelskill::engine
