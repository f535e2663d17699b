#include "analysis/source/json.h"
#include "engine/workbench/hazard_repair.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/json_report.h"

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

void printRepair(const engine::HazardRepair& repair, const Snapshot& snapshot,
                 const std::string& file) {
    const Terminal terminal(stdout);
    for (const auto& [hazard, title] : repair.applied)
        fmt::print("{} line {}: {}\n  {}\n",
                   terminal.paint(Colour::Red, fmt::format("{}:", spelling(hazard.kind))),
                   hazard.line + 1, hazard.message, terminal.paint(Colour::Green, "fix: " + title));
    for (const engine::Hazard& hazard : repair.left)
        fmt::print("{} line {}: {}\n  no fix is sure\n",
                   terminal.paint(hazard.certain ? Colour::Red : Colour::Yellow,
                                  fmt::format("{}:", spelling(hazard.kind))),
                   hazard.line + 1, hazard.message);
    for (const std::string& kernel : repair.notRun)
        fmt::print("{}\n", terminal.paint(Colour::Dim, "not run: " + kernel));
    if (!repair.edits.empty())
        fmt::print("\n{}", terminal.paintDiff(
                               analysis::unifiedDiff(file, snapshot.program.text, repair.text)));
    if (repair.hazardsBefore == 0)
        fmt::print("{} has no compile error and {}\n", file,
                   repair.notRun.empty() ? "no hazard" : "no hazard in what could be run");
    else
        fmt::print("\n{}: {} hazard{} before, {} after\n", statusOf(repair), repair.hazardsBefore,
                   repair.hazardsBefore == 1 ? "" : "s", repair.left.size());
}

int write(const analysis::EditSet& edits, TextLookup& texts, const RepairArguments& arguments,
          const Invocation& invocation) {
    if (edits.empty())
        return exitNothingFound;
    if (!arguments.write)
        return exitDone;
    if (const auto written = writeEdits(edits, texts); !written)
        return reportError(written.error(), invocation);
    fmt::print(stderr, "written: {}\n", arguments.file);
    return exitDone;
}

/// `Repaired` is a repair of compile errors or of hazards.
template <typename Repaired>
int finish(const Repaired& repair, const Snapshot& snapshot, const RepairArguments& arguments,
           const Invocation& invocation) {
    TextLookup texts(snapshot.program);
    if (invocation.json)
        printJson(repairJson(repair, snapshot.model().file, texts, PositionEncoding::Utf16));
    else
        printRepair(repair, snapshot, arguments.file);
    return write(repair.edits, texts, arguments, invocation);
}

int runRepair(const RepairArguments& arguments, const Invocation& invocation) {
    const auto opened = openInput(arguments.file, invocation.options);
    if (!opened)
        return reportError(opened.error(), invocation);
    const Snapshot& snapshot = **opened;
    const engine::Repair repair =
        engine::repairFile(snapshot.model(), snapshot.program.command,
                           snapshot.workbench->toolchain(), std::stop_token{});
    if (repair.errorsBefore > 0 || !snapshot.workbench->machines().emulator())
        return finish(repair, snapshot, arguments, invocation);
    const auto hazards = engine::repairHazards(snapshot.workbench->hazardFixes(), snapshot.program,
                                               std::stop_token{}, {});
    if (!hazards)
        return reportError(hazards.error(), invocation);
    return finish(*hazards, snapshot, arguments, invocation);
}

} // namespace

void addRepairCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("repair", "Fix compile errors; in a file without any, fix hazards");
    command.footer("\nExamples:\n"
                   "  kernelskill repair broken.cu\n"
                   "  kernelskill repair broken.cu --write\n"
                   "\nEach fix of a compile error was parsed: it leaves fewer errors. In a file "
                   "that compiles, every kernel\n"
                   "runs on the CPU emulator, and each fix of a hazard runs beside the original at "
                   "several sizes.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<RepairArguments>();
    addFileArgument(command, arguments->file);
    command.flag(arguments->write, {.name = "--write", .help = "Write the repaired file"});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runRepair(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
