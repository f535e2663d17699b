#include "analysis/parse/compile_command.h"

#include "analysis/parse/include_inference.h"

namespace kernelskill::analysis {

CompileCommands::CompileCommands(std::vector<std::string> fallbackFlags,
                                 std::filesystem::path databaseDirectory)
    : fallbackFlags_(std::move(fallbackFlags)), databaseDirectory_(std::move(databaseDirectory)) {}

Result<CompileCommand>
CompileCommands::commandFor(const std::filesystem::path& file,
                            const std::filesystem::path& workspaceRoot) const {
    return inferred(file, workspaceRoot);
}

CompileCommand CompileCommands::inferred(const std::filesystem::path& file,
                                         const std::filesystem::path& workspaceRoot) const {
    CompileCommand command = translateArguments(fallbackFlags_, file.parent_path());
    command.origin = CommandOrigin::Inferred;
    inferIncludeDirs(file, workspaceRoot, command);
    return command;
}

} // namespace kernelskill::analysis
