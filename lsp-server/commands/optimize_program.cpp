#include "lsp-server/commands/optimize_program.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "lsp-server/commands/chosen_program.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/model_flags.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/program/program_optimization.h"
#include "lsp-server/report/program_optimization_report.h"
#include "lsp-server/workspace/skill_folders.h"
#include "lsp-server/workspace/workspace.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <unistd.h>
#include <utility>

namespace kernelskill::lsp {
namespace {

/// The program with its build and check: those of the command line, else its own. Words behind `--`
/// are one of the workspace's programs if it has the same command.
Result<ChosenProgram> programFor(const ProgramOptimizationArguments& arguments,
                                 const Invocation& invocation) {
    KERNELSKILL_TRY(auto chosen, chosenProgram(arguments.program, invocation));
    engine::Workload& workload = chosen.workload;
    if (arguments.program.empty()) {
        const auto programs = programsAt(chosen.place);
        const auto same = std::ranges::find_if(programs.workloads, [&](const auto& each) {
            return each.command == workload.command && each.folder == workload.folder;
        });
        if (same != programs.workloads.end())
            workload = *same;
    }
    if (!arguments.build.empty())
        workload.build = engine::commandWords(arguments.build);
    if (!arguments.check.empty()) {
        workload.check = engine::commandWords(arguments.check);
        workload.pattern.clear();
    }
    if (workload.build.empty())
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "it is not known how the program is built",
                  engine::commandText(workload.command),
                  "say it: --build 'nvcc -O3 program.cu -o program', or `build` of a program in "
                  ".kernelskill/programs.json"});
    return chosen;
}

/// Writes to standard error. Progress is shown on a terminal only, and a sentence replaces it.
SearchMessages messagesInTerminal() {
    const bool showsProgress = isatty(STDERR_FILENO) != 0;
    const char* lineStart = showsProgress ? "\r\033[K" : "";
    return {[lineStart](const std::string& sentence) {
                fmt::print(stderr, "{}{}\n", lineStart, sentence);
            },
            [showsProgress, lineStart](std::string_view what, double) {
                if (showsProgress)
                    fmt::print(stderr, "{}{}", lineStart, what);
            }};
}

Result<ProgramOptimization> optimize(const ProgramOptimizationArguments& arguments,
                                     const ChosenProgram& program, const Invocation& invocation,
                                     const std::stop_token& stop) {
    SearchTools tools;
    tools.options = optionsOn(arguments.executor, invocation.options);
    KERNELSKILL_TRY(tools.workbench,
                    makeWorkbench(tools.options, skillFoldersOfCommand(program.place.root)));
    tools.readerOf = [&tools](const std::filesystem::path& root, const Options& options) {
        return readerOfProgram(tools.workbench, root, options);
    };
    KERNELSKILL_TRY(const auto model, chosenModel(tools.options));
    tools.model = model.get();
    tools.messages = messagesInTerminal();
    ProgramSearch search = arguments.search;
    KERNELSKILL_TRY(search.measures, usesGpu(arguments.executor, *tools.workbench, stop));
    // The program runs kernels, so there is a GPU, even if there is no runner for it.
    search.holds = arguments.executor != "emulator" && arguments.executor != "slurm";
    return optimizeInCopies(
        {program.workload, program.place.root, program.folder, arguments.copyMebibytes << 20},
        search, tools, stop);
}

/// Writes the files with their edits.
Result<void> writeFiles(const std::map<std::filesystem::path, EditedFile>& files) {
    std::map<std::filesystem::path, FileChange> changes;
    for (const auto& [path, file] : files) {
        KERNELSKILL_TRY(auto after, analysis::applyEdits(file.before, file.edits));
        changes[path] = {file.before, std::move(after)};
    }
    return replaceFiles(changes);
}

/// Optimises the program, and writes what is kept if that is asked for.
Result<ProgramOptimizationReport> run(const ProgramOptimizationArguments& arguments,
                                      const Invocation& invocation, const std::stop_token& stop) {
    KERNELSKILL_TRY(const auto program, programFor(arguments, invocation));
    KERNELSKILL_TRY(auto found, optimize(arguments, program, invocation, stop));
    if (!arguments.write || !found.report.isImproved())
        return std::move(found.report);
    if (stop.stop_requested()) {
        fmt::print(stderr,
                   "stopped while edits of the host's code were tried: nothing is written\n");
        return std::move(found.report);
    }
    KERNELSKILL_CHECK(writeFiles(found.files));
    found.report.isWritten = true;
    return std::move(found.report);
}

} // namespace

int optimizeProgram(const ProgramOptimizationArguments& arguments, const Invocation& invocation) {
    const Interruption interruption; // Before there are threads: they take its mask over.
    const auto report = run(arguments, invocation, interruption.token());
    if (!report)
        return reportError(report.error(), invocation);
    if (invocation.json) {
        printJson(programOptimizationJson(*report));
    } else {
        const Terminal terminal(stdout);
        if (!report->diff.empty())
            fmt::print("{}\n", terminal.paintDiff(report->diff));
        for (const std::string& line : programOptimizationLines(*report))
            fmt::print("{}\n", line);
    }
    if (report->isWritten)
        fmt::print(stderr, "written\n");
    return report->isImproved() ? exitDone : exitNothingFound;
}

} // namespace kernelskill::lsp
