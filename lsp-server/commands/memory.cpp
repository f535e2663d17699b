#include "lsp-server/features/memory.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "engine/memory/long_term_memory.h"
#include "engine/memory/memory_entry.h"
#include "engine/memory/outcome_file.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/workspace/workspace_root.h"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <memory>

namespace kernelskill::lsp {

namespace {

int runMemory(const std::string& file, const Invocation& invocation) {
    std::error_code error;
    const auto path = std::filesystem::absolute(file, error).lexically_normal();
    // The memory of a file that has since been deleted can still be read.
    const engine::ShortTermMemory memory(workspaceRootOf(path), path);
    const auto contents = memory.read();
    if (!contents)
        return reportError(contents.error(), invocation);
    if (contents->entries.empty() && !std::filesystem::exists(path, error))
        return reportError({ErrorKind::InvalidInput, "no such file", path.string(), ""},
                           invocation);
    for (const std::string& problem : contents->problems)
        fmt::print(stderr, "warning: {}: {}\n", memory.path().string(), problem);
    const auto status = contents->entries.empty() ? exitNothingFound : exitDone;
    if (invocation.json) {
        const auto report = memoryReport(workspaceRootOf(path), path);
        if (!report)
            return reportError(report.error(), invocation);
        printJson(*report);
        return status;
    }
    if (contents->entries.empty()) {
        fmt::print("nothing has been tried on {}\n", file);
        return status;
    }
    const Terminal terminal(stdout);
    for (const engine::MemoryEntry& entry : contents->entries) {
        fmt::print("{}  {:<8} {}  {}  {}\n", terminal.paint(Colour::Dim, entry.time),
                   spelling(entry.kind), terminal.paint(Colour::Bold, entry.kernel), entry.skill,
                   entry.status);
        if (!entry.detail.empty())
            fmt::print("    {}\n", entry.detail);
        if (entry.diagnosis)
            fmt::print("    {}: {}\n", entry.diagnosis->cause, entry.diagnosis->sentence);
    }
    return status;
}

/// The user's long-term memory; without `mayCreate` only if there is one.
Result<engine::LongTermMemory> openOutcomes(bool mayCreate) {
    const auto file = engine::longTermMemoryFile({});
    std::error_code ignored;
    if (file.empty() || (!mayCreate && !std::filesystem::exists(file, ignored)))
        return std::unexpected(Error{ErrorKind::Failed, "there is no long-term memory yet",
                                     file.string(), "`kernelskill apply` and `optimize` fill it"});
    return engine::LongTermMemory::open(file);
}

int exportOutcomes(const std::string& file, const Invocation& invocation) {
    const auto memory = openOutcomes(false);
    if (!memory)
        return reportError(memory.error(), invocation);
    const auto outcomes = memory->outcomes();
    if (!outcomes)
        return reportError(outcomes.error(), invocation);
    if (const auto written = replaceFile(file, engine::formatOutcomes(*outcomes)); !written)
        return reportError(written.error(), invocation);
    if (invocation.json)
        printJson({{"file", file}, {"outcomes", outcomes->size()}});
    else
        fmt::print("{} outcomes written to {}\n", outcomes->size(), file);
    return exitDone;
}

int importOutcomes(const std::string& file, const Invocation& invocation) {
    const auto text = analysis::readFile(file);
    if (!text)
        return reportError({ErrorKind::InvalidInput, "the file cannot be read", file, ""},
                           invocation);
    const auto outcomes = engine::parseOutcomes(*text);
    if (!outcomes)
        return reportError(outcomes.error(), invocation);
    auto memory = openOutcomes(true);
    if (!memory)
        return reportError(memory.error(), invocation);
    const auto added = memory->merge(*outcomes);
    if (!added)
        return reportError(added.error(), invocation);
    if (invocation.json)
        printJson({{"file", file}, {"outcomes", outcomes->size()}, {"added", *added}});
    else
        fmt::print("{} outcomes read, {} of them new\n", outcomes->size(), *added);
    return *added > 0 ? exitDone : exitNothingFound;
}

using FileAction = int (*)(const std::string& file, const Invocation& invocation);

void addFileCommand(CliCommand& memory, Invocation& invocation, const char* name,
                    const char* description, const char* footer, FileAction action) {
    CliCommand& command = memory.add(name, description);
    command.footer(footer);
    addJsonFlag(command, invocation);
    const auto file = std::make_shared<std::string>();
    command.option(file.get(), {.name = "FILE", .help = "A file of outcomes", .required = true});
    command.whenChosen([&invocation, file, action] {
        invocation.run = [&invocation, file, action] { return action(*file, invocation); };
    });
}

} // namespace

void addMemoryCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("memory", "Show what was tried on a file; share how skills did");
    command.requireSubcommand();
    CliCommand& show =
        command.add("show", "Show plans, edits, verdicts and failures, oldest first");
    show.footer("\nExample:\n  kernelskill memory show saxpy.cu\n\n"
                "They are read from .kernelskill/memory/ of the workspace.");
    addJsonFlag(show, invocation);
    const auto file = std::make_shared<std::string>();
    addFileArgument(show, *file);
    show.whenChosen([&invocation, file] {
        invocation.run = [&invocation, file] { return runMemory(*file, invocation); };
    });
    addFileCommand(command, invocation, "export", "Write to a file how skills did",
                   "\nExample:\n  kernelskill memory export outcomes.json\n\n"
                   "The file holds verdicts and speedups of reviewed edits. Kernels are named by "
                   "hashes; it holds no code.",
                   exportOutcomes);
    addFileCommand(command, invocation, "import", "Read how skills did elsewhere",
                   "\nExample:\n  kernelskill memory import outcomes.json\n\n"
                   "The outcomes change the order in which skills are tried. Outcomes that are "
                   "known already are skipped.",
                   importOutcomes);
}

} // namespace kernelskill::lsp
