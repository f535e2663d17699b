#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <stop_token>

namespace kernelskill::lsp {

namespace {

struct RepairArguments {
    std::string file;
    bool write = false;
};

void printRepair(const engine::Repair& repair, const Snapshot& snapshot, const std::string& file) {
    const Terminal terminal(stdout);
    if (repair.errorsBefore == 0) {
        fmt::print("{} has no compile error\n", file);
        return;
    }
    for (const engine::CompileFix& fix : repair.applied)
        fmt::print("{} {}\n  {}\n", terminal.paint(Colour::Red, "error:"),
                   fix.failure.diagnostic.message,
                   terminal.paint(Colour::Green, "fix: " + fix.title));
    if (!repair.edits.empty())
        fmt::print("\n{}", terminal.paintDiff(
                               analysis::unifiedDiff(file, snapshot.program.text, repair.text)));
    fmt::print("\n{}: {} errors before, {} after\n", statusOf(repair), repair.errorsBefore,
               repair.errorsAfter);
}

int run(const RepairArguments& arguments, const Invocation& invocation) {
    const auto opened = openInput(arguments.file, invocation.options);
    if (!opened)
        return reportError(opened.error(), invocation);
    const Snapshot& snapshot = **opened;
    const engine::Repair repair =
        engine::repairFile(snapshot.model(), snapshot.program.command,
                           snapshot.workbench->toolchain(), std::stop_token{});
    TextLookup texts(snapshot.program);
    if (invocation.json)
        printJson(repairJson(repair, snapshot.model().file, texts, PositionEncoding::Utf16));
    else
        printRepair(repair, snapshot, arguments.file);
    if (repair.edits.empty())
        return exitNothingFound;
    if (arguments.write) {
        if (const auto written = writeEdits(repair.edits, texts); !written)
            return reportError(written.error(), invocation);
        fmt::print(stderr, "written: {}\n", arguments.file);
    }
    return exitDone;
}

} // namespace

void addRepairCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command =
        app.add_subcommand("repair", "Fix compile errors; each fix was checked to parse");
    command->fallthrough();
    command->footer("\nExamples:\n"
                    "  kernelskill repair broken.cu\n"
                    "  kernelskill repair broken.cu --write");
    addJsonFlag(*command, invocation);
    const auto arguments = std::make_shared<RepairArguments>();
    command->add_option("FILE", arguments->file, "The CUDA file")->required();
    command->add_flag("--write", arguments->write, "Write the repaired file");
    command->callback([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return run(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
