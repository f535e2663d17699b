#include "engine/program/cmake_workloads.h"

#include "analysis/source/files.h"
#include "engine/program/cmake_build.h"
#include "engine/program/cmake_project.h"
#include "engine/program/command_words.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

struct Executable {
    std::string name;
    fs::path path;
    bool hasCudaSource = false;
    std::string origin;
};

std::string placeOf(const fs::path& file, std::uint32_t line, const fs::path& folder) {
    return fmt::format("{}:{}", file.lexically_relative(folder).string(), line);
}

std::vector<Executable> executablesOf(const CmakeProject& project, const fs::path& folder,
                                      const fs::path& buildFolder,
                                      std::vector<std::string>& notes) {
    std::vector<Executable> found;
    for (BuiltExecutable& built : builtExecutables(buildFolder)) {
        const CmakeExecutable* written = project.find(built.name);
        found.push_back({built.name, std::move(built.path), built.hasCudaSource,
                         written == nullptr ? buildFolder.filename().string() + " (CMake)"
                                            : placeOf(written->file, written->line, folder)});
    }
    if (!found.empty())
        return found;
    notes.insert(notes.end(), project.notes.begin(), project.notes.end());
    for (const CmakeExecutable& each : project.executables) {
        const std::string place = placeOf(each.file, each.line, folder);
        if (each.path)
            found.push_back({each.name, (buildFolder / *each.path).lexically_normal(),
                             each.hasCudaSource, place});
        else
            notes.push_back(fmt::format(
                "{}: the text does not tell in which folder '{}' is built; configure the project",
                place, each.name));
    }
    return found;
}

/// A path as it is typed in `folder`.
std::string typed(const fs::path& path, const fs::path& folder) {
    if (!analysis::isBelow(path, folder))
        return path.string();
    const std::string relative = path.lexically_relative(folder).string();
    return relative.contains('/') ? relative : "./" + relative;
}

} // namespace

FoundWorkloads cmakeWorkloads(const fs::path& folder) {
    if (!analysis::isFile(folder / "CMakeLists.txt"))
        return {};
    FoundWorkloads found;
    const auto buildFolders = cmakeBuildFolders(folder);
    const bool isConfigured = !buildFolders.empty();
    const auto buildFolder = isConfigured ? buildFolders.front() : folder / "build";
    const CmakeProject project = readCmakeProject(folder);
    auto executables = executablesOf(project, folder, buildFolder, found.notes);
    std::ranges::stable_sort(executables, std::ranges::greater{}, &Executable::hasCudaSource);

    const auto buildOf = [&](const std::string& target) {
        const std::string path = typed(buildFolder, folder);
        const std::string shown = path.starts_with("./") && path != "./." ? path.substr(2) : path;
        std::vector<std::vector<std::string>> commands;
        if (!isConfigured)
            commands.push_back({"cmake", "-S", ".", "-B", shown});
        commands.push_back({"cmake", "--build", shown, "--target", target});
        return joinedCommands(commands);
    };
    for (const CmakeTest& test : project.tests) {
        const auto executable =
            std::ranges::find(executables, test.command.front(), &Executable::name);
        if (executable == executables.end())
            continue; // Another program: a script, Python.
        Workload workload{.name = test.name,
                          .command = test.command,
                          .folder = folder,
                          .environment = {},
                          .build = buildOf(executable->name),
                          .check = {},
                          .pattern = {},
                          .origin = placeOf(test.file, test.line, folder)};
        if (test.folder) {
            workload.folder = test.folder->is_absolute()
                                  ? *test.folder
                                  : (buildFolder / *test.folder).lexically_normal();
            // The build runs in the same folder.
            workload.build = joinedCommands({{"cd", folder.string()}, workload.build});
        }
        workload.command.front() = typed(executable->path, workload.folder);
        found.workloads.push_back(std::move(workload));
    }
    for (const Executable& executable : executables)
        found.workloads.push_back({.name = executable.name,
                                   .command = {typed(executable.path, folder)},
                                   .folder = folder,
                                   .environment = {},
                                   .build = buildOf(executable.name),
                                   .check = {},
                                   .pattern = {},
                                   .origin = executable.origin});
    return found;
}

} // namespace kernelskill::engine
