#include "lsp-server/documents/closed_document.h"

#include "analysis/source/files.h"
#include "lsp-server/documents/reading.h"
#include "lsp-server/protocol/uri.h"

#include <utility>

namespace kernelskill::lsp {

Result<std::string> readText(const std::filesystem::path& path) {
    auto text = analysis::readFile(path);
    if (!text)
        return std::unexpected(
            Error{ErrorKind::InvalidInput, analysis::unreadableReason(path), path.string(), ""});
    if (std::string problem = textProblem(*text); !problem.empty())
        return std::unexpected(
            Error{ErrorKind::InvalidInput, std::move(problem), path.string(), ""});
    return std::move(*text);
}

Result<SnapshotPtr> readDocument(const std::filesystem::path& file,
                                 const std::filesystem::path& workspaceRoot,
                                 std::shared_ptr<const engine::Workbench> workbench,
                                 const analysis::CompileCommands& commands) {
    auto text = readText(file);
    if (!text)
        return std::unexpected(text.error());
    auto command = commands.commandFor(file, workspaceRoot);
    if (!command)
        return std::unexpected(command.error());
    auto reading = chooseReading({file,
                                  *text,
                                  workspaceRoot,
                                  commands,
                                  workbench->toolchain(),
                                  {},
                                  analysis::ParsePurpose::Once},
                                 *command);
    if (!reading)
        return std::unexpected(reading.error());
    auto model = std::make_shared<const analysis::FileModel>(reading->unit.model());
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->uri = uriFromPath(file);
    snapshot->workspaceRoot = workspaceRoot;
    snapshot->workbench = std::move(workbench);
    snapshot->program = {model->file, std::move(*text),         {}, std::move(reading->command),
                         model,       capturesIn(workspaceRoot)};
    return snapshot;
}

} // namespace kernelskill::lsp
