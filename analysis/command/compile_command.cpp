#include "analysis/command/compile_command.h"

#include "analysis/command/compilation_database.h"
#include "analysis/command/flag_inference.h"
#include "analysis/source/files.h"

#include <optional>
#include <system_error>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

struct FoundFile {
    fs::path path;
    bool isDatabase = false;
};

std::optional<FoundFile> inFolder(const fs::path& folder) {
    for (const char* place : {"compile_commands.json", "build/compile_commands.json"})
        if (isFile(folder / place))
            return FoundFile{folder / place, true};
    if (isFile(folder / "compile_flags.txt"))
        return FoundFile{folder / "compile_flags.txt", false};
    return std::nullopt;
}

/// Searches from the file's folder upwards, up to and including the workspace's root.
std::optional<FoundFile> search(const fs::path& file, const fs::path& workspaceRoot) {
    fs::path folder = file.parent_path();
    while (!folder.empty()) {
        if (std::optional<FoundFile> found = inFolder(folder))
            return found;
        if (folder == workspaceRoot || folder == folder.root_path())
            break;
        folder = folder.parent_path();
    }
    return std::nullopt;
}

fs::path absoluteNormal(const fs::path& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    return (error ? path : absolute).lexically_normal();
}

CompileCommand from(const fs::path& origin, CommandOrigin kind, CompileCommand command) {
    command.origin = kind;
    command.originPath = origin.string();
    for (std::string& note : command.notes)
        note = origin.string() + ": " + note;
    return command;
}

} // namespace

CompileCommands::CompileCommands(std::vector<std::string> fallbackFlags, fs::path databaseDirectory,
                                 Gate mayRead)
    : fallbackFlags_(std::move(fallbackFlags)), databaseDirectory_(std::move(databaseDirectory)),
      mayRead_(std::move(mayRead)) {}

Result<CompileCommand> CompileCommands::commandFor(const fs::path& givenFile,
                                                   const fs::path& workspaceRoot) const {
    const fs::path file = absoluteNormal(givenFile);
    std::optional<FoundFile> found;
    if (!databaseDirectory_.empty()) {
        found = inFolder(databaseDirectory_);
        if (!found)
            return std::unexpected(Error{ErrorKind::InvalidInput,
                                         "the configured folder holds no compile_commands.json",
                                         databaseDirectory_.string(),
                                         "Correct or clear kernelskill.parse.compilationDatabase"});
    } else {
        found = search(file, workspaceRoot.lexically_normal());
    }
    if (!found)
        return inferred(file, workspaceRoot);
    if (databaseDirectory_.empty() && mayRead_ && !mayRead_(found->path)) {
        CompileCommand command = inferred(file, workspaceRoot);
        command.notes.push_back(found->path.string() +
                                " belongs to another user, so its flags are not read; `kernelskill "
                                "trust " +
                                found->path.parent_path().string() + "` allows it");
        return command;
    }
    if (!found->isDatabase) {
        const Result<std::vector<std::string>> flags = readFlagsFile(found->path);
        if (!flags)
            return std::unexpected(flags.error());
        return from(found->path, CommandOrigin::FlagsFile,
                    translateArguments(*flags, found->path.parent_path()));
    }
    const Result<std::vector<DatabaseEntry>> entries = readCompilationDatabase(found->path);
    if (!entries)
        return std::unexpected(entries.error());
    const DatabaseEntry* entry = entryFor(*entries, file);
    if (entry == nullptr)
        return inferred(file, workspaceRoot);
    return from(found->path, CommandOrigin::CompilationDatabase,
                translateArguments(entry->arguments, entry->directory));
}

std::vector<fs::path> CompileCommands::listedSources(const fs::path& file,
                                                     const fs::path& workspaceRoot) const {
    const std::optional<FoundFile> found =
        databaseDirectory_.empty() ? search(absoluteNormal(file), workspaceRoot.lexically_normal())
                                   : inFolder(databaseDirectory_);
    if (!found || !found->isDatabase || (databaseDirectory_.empty() && !mayRead(found->path)))
        return {};
    std::vector<fs::path> sources;
    if (const auto entries = readCompilationDatabase(found->path))
        for (const DatabaseEntry& entry : *entries)
            sources.push_back(entry.file);
    return sources;
}

CompileCommand CompileCommands::inferred(const fs::path& givenFile,
                                         const fs::path& workspaceRoot) const {
    const fs::path file = absoluteNormal(givenFile);
    CompileCommand command = translateArguments(fallbackFlags_, file.parent_path());
    command.origin = CommandOrigin::Inferred;
    inferFlags(file, workspaceRoot.lexically_normal(), command);
    return command;
}

} // namespace kernelskill::analysis
