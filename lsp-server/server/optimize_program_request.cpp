#include "lsp-server/server/optimize_program_request.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "lsp-server/documents/closed_document.h"
#include "lsp-server/features/workspace_edit.h"
#include "lsp-server/program/program_optimization.h"
#include "lsp-server/program/program_profiling.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/server/chosen_model.h"
#include "lsp-server/server/edit_requests.h"
#include "lsp-server/server/program_profiles.h"
#include "lsp-server/server/program_scope.h"
#include "lsp-server/server/remedies.h"
#include "lsp-server/server/search_arguments.h"
#include "lsp-server/workspace/ownership.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int maxKernels = 1000;

/// Reads the search from the command's argument. Throws an error that becomes InvalidParams.
ProgramSearch searchFrom(const json& argument) {
    ProgramSearch search;
    search.kernel = argument.value("kernel", "");
    search.maxKernels = static_cast<std::uint64_t>(
        std::clamp(argument.value("kernels", static_cast<int>(search.maxKernels)), 1, maxKernels));
    search.options.rounds = roundsFrom(argument, search.options.rounds);
    search.budget = secondsFrom(argument, search.budget);
    return search;
}

/// The name of an open document below `root` whose text is not the disk's; empty: there is none. On
/// the loop's thread.
std::string unsavedBelow(const ServerContext& context, const fs::path& root) {
    for (const Document* document : context.documents.all()) {
        const auto path = analysis::canonicalPath(document->path);
        if (!analysis::isBelow(path, root))
            continue;
        const auto saved = analysis::readFile(path);
        if (saved && *saved != document->text->text())
            return path.filename().string();
    }
    return {};
}

/// The program with its place in the tree.
Result<ProgramInTree> programIn(const ProgramScope& scope, const std::string& name) {
    ProgramInTree program;
    program.root = analysis::canonicalPath(scope.root);
    KERNELSKILL_TRY(program.workload, engine::chooseProgram(programsOf(scope), name));
    if (program.workload.build.empty())
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "it is not known how the program is built",
                                     engine::commandText(program.workload.command),
                                     "say it: `build` of this program in the setting "
                                     "kernelskill.program or in .kernelskill/programs.json"});
    KERNELSKILL_TRY(program.folder, placeInWorkspace(program.workload, program.root));
    return program;
}

/// Shows a search's messages as the request's progress.
SearchMessages messagesTo(const WorkDoneProgress& progress) {
    const auto done = std::make_shared<double>(0);
    return {[&progress, done](const std::string& sentence) { progress.report(sentence, *done); },
            [&progress, done](std::string_view what, double part) {
                *done = part;
                progress.report(what, part);
            }};
}

/// The workspace's tools, without messages. On the loop's thread.
Result<SearchTools> toolsOf(const ServerContext& context) {
    const auto& workbench = context.workspace.workbench();
    if (!workbench)
        return std::unexpected(context.workspace.problem());
    SearchTools tools;
    tools.options = context.workspace.options();
    tools.workbench = workbench;
    tools.readerOf = [workbench](const fs::path& root, const Options& options) {
        const auto commands = std::make_shared<const analysis::CompileCommands>(
            options.fallbackFlags, options.compilationDatabase, isOwn);
        return [workbench, root, commands](const fs::path& file) {
            return readDocument(file, root, workbench, *commands);
        };
    };
    return tools;
}

/// Returns the kept edits as a WorkspaceEdit. Error: the name of a file whose text has changed
/// since the search began. On the loop's thread.
std::expected<json, std::string> editOf(const ServerContext& context,
                                        const ProgramOptimization& found,
                                        const EditAnnotation& annotation) {
    std::vector<FileEdit> files;
    std::vector<std::unique_ptr<const analysis::SourceText>> texts;
    for (const auto& [path, file] : found.files) {
        const Document* document = context.documents.findPath(path);
        const auto present = document != nullptr ? std::string(document->text->text())
                                                 : analysis::readFile(path).value_or("");
        if (present != file.before)
            return std::unexpected(path.filename().string());
        texts.push_back(std::make_unique<const analysis::SourceText>(file.before));
        files.push_back({document != nullptr ? document->uri : uriFromPath(path.string()),
                         document != nullptr ? std::optional(document->version) : std::nullopt,
                         texts.back().get(), file.edits});
    }
    return workspaceEdit(files, context.capabilities, annotation);
}

/// On the loop's thread.
void finish(const ServerContext& context, const std::string& name, const ProgramOptimization& found,
            bool isStopped, Reply reply) {
    json result = programOptimizationJson(found.report);
    result["applied"] = false;
    const std::string summary = summaryOf(found.report);
    if (!found.report.isImproved() || isStopped) {
        context.showMessage(ServerContext::MessageType::Info, summary);
        return reply.result(std::move(result));
    }
    const EditAnnotation annotation{.label = fmt::format("Optimize program '{}'", name),
                                    .description = summary,
                                    .needsConfirmation =
                                        context.workspace.options().previewOptimize,
                                    .notice = summary};
    auto edit = editOf(context, found, annotation);
    if (!edit) {
        context.showMessage(ServerContext::MessageType::Warning,
                            fmt::format("Nothing was applied, since {} has changed while the "
                                        "program was optimised. {}",
                                        edit.error(), summary));
        return reply.result(std::move(result));
    }
    applyInEditor(context, annotation, std::move(*edit), std::nullopt, std::move(result),
                  std::move(reply));
}

void optimize(const ServerContext& context, ProgramScope scope, std::string name,
              ProgramSearch search, const json& params, Reply reply, const std::stop_source& stop) {
    auto tools = toolsOf(context);
    if (!tools)
        return reply.error(toResponseErrorWithRemedy(tools.error()));
    if (const auto unsaved = unsavedBelow(context, analysis::canonicalPath(scope.root));
        !unsaved.empty())
        return reply.error(ErrorCode::RequestFailed,
                           fmt::format("save {} first: the program is built from the files on the "
                                       "disk",
                                       unsaved));
    auto model = languageModel(context, true);
    tools->model = model.get();
    auto occupied = context.programs.occupy(scope.root);
    context.runJob(
        "Optimizing the program", params, std::move(reply), stop,
        [&context, scope = std::move(scope), name = std::move(name), search = std::move(search),
         tools = std::move(*tools), model = std::move(model), occupied = std::move(occupied)](
            Reply answer, const std::stop_token& token, const WorkDoneProgress& progress) mutable {
            const auto program = programIn(scope, name);
            if (!program)
                return answer.error(toResponseErrorWithRemedy(program.error()));
            tools.messages = messagesTo(progress);
            search.measures = tools.workbench->machines().gpu().has_value();
            search.holds = tools.options.gpuOn != "slurm";
            auto found = optimizeInCopies(*program, search, tools, token);
            if (!found)
                return answer.error(toResponseErrorWithRemedy(found.error()));
            context.loop.post([&context, name = program->workload.name, found = std::move(*found),
                               isStopped = token.stop_requested(),
                               answer = std::move(answer)]() mutable {
                finish(context, name, found, isStopped, std::move(answer));
            });
        });
}

} // namespace

void optimizeProgramCommand(const ServerContext& context, const json& argument, const json& params,
                            Reply& reply, const std::stop_source& stop) {
    if (!context.workspace.options().executionEnabled)
        return reply.error(executionIsOff());
    // Read here, where a wrong type is answered with what is wrong.
    ProgramSearch search = searchFrom(argument);
    auto name = argument.value("name", "");
    auto scope = programScopeOrError(context, argument, reply);
    if (!scope)
        return;
    const fs::path root = scope->root;
    context.trust.whenTrusted(
        root,
        [&context, scope = std::move(*scope), search = std::move(search), name = std::move(name),
         params, stop, reply = std::move(reply)](std::optional<std::string> refusal) mutable {
            if (refusal)
                return reply.error(ErrorCode::RequestFailed, std::move(*refusal));
            optimize(context, std::move(scope), std::move(name), std::move(search), params,
                     std::move(reply), stop);
        });
}

} // namespace kernelskill::lsp
