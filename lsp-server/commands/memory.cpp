#include "lsp-server/features/memory.h"

#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <memory>

namespace kernelskill::lsp {

namespace {

int run(const std::string& file, const Invocation& invocation) {
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
    }
    return status;
}

} // namespace

void addMemoryCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("memory", "What has been tried on a file");
    command->fallthrough();
    command->require_subcommand(1);
    CLI::App* show =
        command->add_subcommand("show", "Plans, edits, verdicts and failures, oldest first");
    show->fallthrough();
    show->footer("\nExample:\n  kernelskill memory show saxpy.cu\n\n"
                 "Read from .kernelskill/memory/ of the workspace.");
    addJsonFlag(*show, invocation);
    const auto file = std::make_shared<std::string>();
    show->add_option("FILE", *file, "The CUDA file")->required();
    show->callback([&invocation, file] {
        invocation.run = [&invocation, file] { return run(*file, invocation); };
    });
}

} // namespace kernelskill::lsp
