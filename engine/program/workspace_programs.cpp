#include "engine/program/workspace_programs.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/trimmed.h"
#include "engine/program/json_with_comments.h"
#include "engine/program/workload_json.h"
#include "engine/program/workload_search.h"
#include "engine/storage/cache_files.h"
#include "engine/storage/workspace_folder.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <system_error>

namespace kernelskill::engine {

namespace fs = std::filesystem;

namespace {

fs::path pickedFile(const fs::path& root) {
    return root / ".kernelskill" / "picked-program";
}

/// Adds what the file says, if there is one. `key`: where in the document the programs are; null:
/// they are the document.
void addFrom(const fs::path& root, const fs::path& name, const char* key, FoundWorkloads& all) {
    if (!analysis::isFile(root / name))
        return;
    const auto document = readJsonWithComments(root / name);
    if (!document) {
        all.notes.push_back(document.error().describe());
        return;
    }
    if (key != nullptr && (!document->is_object() || !document->contains(key)))
        return;
    FoundWorkloads found =
        readWorkloads(key == nullptr ? *document : document->at(key), root, name.string());
    std::ranges::move(found.workloads, std::back_inserter(all.workloads));
    std::ranges::move(found.notes, std::back_inserter(all.notes));
}

std::string namesOf(const std::vector<Workload>& workloads) {
    std::string names;
    for (const Workload& workload : workloads)
        names += (names.empty() ? "" : ", ") + workload.name;
    return names;
}

} // namespace

FoundWorkloads workspaceSettings(const fs::path& root) {
    FoundWorkloads found;
    addFrom(root, fs::path(".kernelskill") / "programs.json", nullptr, found);
    addFrom(root, fs::path(".vscode") / "settings.json", "kernelskill.program", found);
    return found;
}

WorkspacePrograms programsOf(const fs::path& root, const std::vector<fs::path>& folders,
                             FoundWorkloads settings) {
    WorkspacePrograms programs;
    const auto add = [&](FoundWorkloads found) {
        for (Workload& workload : found.workloads)
            if (std::ranges::find(programs.workloads, workload.name, &Workload::name) ==
                programs.workloads.end())
                programs.workloads.push_back(std::move(workload));
        std::ranges::move(found.notes, std::back_inserter(programs.notes));
    };
    add(std::move(settings));
    if (!root.empty())
        add(workspaceSettings(root));
    add(searchWorkloads(folders));
    if (root.empty())
        return programs;
    constexpr std::uintmax_t maxNameBytes = 4096;
    if (const auto name = analysis::readFile(pickedFile(root), maxNameBytes))
        programs.picked = analysis::trimmed(*name);
    return programs;
}

Result<Workload> chooseProgram(const WorkspacePrograms& programs, const std::string& name) {
    const auto& all = programs.workloads;
    if (all.empty())
        return std::unexpected(Error{
            ErrorKind::Missing,
            "no program is known here",
            {},
            "name one in kernelskill.program or .kernelskill/programs.json; a makefile's target "
            "`run`, launch.json and CMake's executables are found by themselves"});
    const std::string& wanted = name.empty() ? programs.picked : name;
    if (const auto found = std::ranges::find(all, wanted, &Workload::name); found != all.end())
        return *found;
    if (!wanted.empty())
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     fmt::format("there is no program \"{}\"{}", wanted,
                                                 name.empty() ? ", which was picked here" : ""),
                                     {},
                                     "there are: " + namesOf(all)});
    if (all.size() == 1)
        return all.front();
    return std::unexpected(
        Error{ErrorKind::InvalidInput,
              "there are several programs, and none is picked",
              {},
              "`kernelskill program pick NAME` does, once; there are: " + namesOf(all)});
}

Result<void> rememberProgram(const fs::path& root, const std::string& name) {
    const auto file = pickedFile(root);
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    ignoreInGit(file.parent_path());
    if (name.contains('\n') || !writeWhole(file, name + "\n"))
        return std::unexpected(Error{ErrorKind::Failed, "the choice cannot be kept", file.string(),
                                     "make the folder writable"});
    return {};
}

} // namespace kernelskill::engine
