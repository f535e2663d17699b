#include "lsp-server/commands/profile_program.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/storage/temporary_folder.h"
#include "lsp-server/commands/chosen_program.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/commands/user_program.h"
#include "lsp-server/program/program_profiling.h"
#include "lsp-server/report/program_profile_report.h"
#include "lsp-server/workspace/skill_folders.h"
#include "lsp-server/workspace/workspace.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;
using engine::KernelShare;

/// Runs the program in the user's terminal.
ProgramStart inTerminal(const engine::Workload& workload, const Invocation& invocation) {
    return [&workload, &invocation](const auto& added) {
        auto environment = workload.environment;
        environment.insert(environment.end(), added.begin(), added.end());
        return runUserProgram(
            {workload.command, std::move(environment), workload.folder, invocation.json});
    };
}

/// Captures launches of the wanted kernels and profiles them. An error is one for all kernels.
Result<void> addDetails(ProgramProfileReport& report, const ProgramProfileArguments& arguments,
                        const Invocation& invocation, const ChosenProgram& program) {
    const auto wanted = wantedKernels(report.profile, arguments.kernel);
    if (wanted.empty())
        return {};
    std::error_code error;
    const auto folder =
        engine::TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-profile");
    if (!folder)
        return std::unexpected(Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
    fmt::print(stderr, "running the program again, to capture {} kernel{}\n", wanted.size(),
               wanted.size() == 1 ? "" : "s");
    const fs::path captures = folder->path() / "captures";
    KERNELSKILL_TRY(const auto recorded, captureWanted(report, wanted, captures, invocation.options,
                                                       inTerminal(program.workload, invocation)));
    for (const Error& problem : recorded.captures.problems)
        fmt::print(stderr, "warning: {}\n", problem.describe());
    const Interruption interruption;
    const Options options = optionsOn(arguments.executor, invocation.options);
    const fs::path& root = program.place.root;
    KERNELSKILL_TRY(auto workbench, makeWorkbench(options, skillFoldersOfCommand(root)));
    KERNELSKILL_TRY(const bool measures,
                    usesGpu(arguments.executor, *workbench, interruption.token()));
    if (measures) {
        fmt::print(stderr, "running the program once more, its kernels one by one\n");
        if (const auto left =
                findDurations(report, invocation.options, inTerminal(program.workload, invocation));
            !left || !left->empty())
            fmt::print(stderr, "note: not all kernels were measured alone: {}\n",
                       left ? *left : left.error().describe());
    }
    CapturedKernels kernels(workbench, root, captures, readerOfProgram(workbench, root, options));
    findDetails(report, wanted, kernels, recorded.captures,
                {measures, interruption.token(), [](const KernelShare& kernel) {
                     fmt::print(stderr, "profiling {}\n", kernel.place->qualifiedName);
                 }});
    return {};
}

void print(const ProgramProfileReport& report, std::size_t most) {
    const Terminal terminal(stdout);
    const auto lines = alignedRows(programProfileTable(report, most));
    for (const std::string& line : lines)
        fmt::print("{}\n", &line == &lines.front() ? terminal.paint(Colour::Bold, line) : line);
    if (report.profile.kernels.size() > most)
        fmt::print("and {} more kernels (--kernels, or --json)\n",
                   report.profile.kernels.size() - most);
    for (const engine::DeviceTimes& device : report.profile.devices)
        fmt::print("{}\n", terminal.paint(Colour::Dim, deviceText(device)));
    for (std::size_t i = 0; i < report.details.size(); ++i)
        if (const auto& details = report.details[i]; details && !*details)
            fmt::print("{}: {}\n", report.profile.kernels[i].times.name,
                       details->error().describe());
    if (report.dropped > 0)
        fmt::print("CUPTI dropped {} records: times are too low\n", report.dropped);
    if (report.status != 0)
        fmt::print("the program ended with status {}\n", report.status);
}

} // namespace

int profileProgram(const ProgramProfileArguments& arguments, const Invocation& invocation) {
    const auto program = chosenProgram(arguments.program, invocation);
    if (!program)
        return reportError(program.error(), invocation);
    if (const auto built = buildInTerminal(program->workload, Interruption().token()); !built)
        return reportError(built.error(), invocation);
    const auto recorded =
        recordTimeline(invocation.options, inTerminal(program->workload, invocation));
    if (!recorded)
        return reportError(recorded.error(), invocation);
    const auto tree = engine::listTree(program->place.root, {});
    if (!tree)
        fmt::print(stderr, "warning: {}\n", tree.error().describe());
    const engine::KernelPlaces places(tree.value_or(engine::SourceTree{}), {});
    ProgramProfileReport report = reportOf(program->workload, *recorded, places, program->folder);
    if (!arguments.kernel.empty() && wantedKernels(report.profile, arguments.kernel).empty())
        return reportError(
            {ErrorKind::InvalidInput,
             fmt::format("the program ran no kernel '{}' of this workspace", arguments.kernel),
             program->place.root.string(), "without --kernel all are listed"},
            invocation);
    if (!arguments.noDetails && report.status > 128)
        fmt::print(stderr,
                   "note: no details, since the program ended with status {}, as by a signal\n",
                   report.status);
    else if (!arguments.noDetails)
        if (const auto found = addDetails(report, arguments, invocation, *program); !found)
            fmt::print(stderr, "warning: no details: {}\n", found.error().describe());
    if (invocation.json)
        printJson(programProfileJson(report));
    else if (report.profile.kernels.empty())
        fmt::print("no kernel ran; the program ended with status {}\n", report.status);
    else
        print(report, arguments.maxKernels);
    return report.profile.kernels.empty() ? exitNothingFound : exitDone;
}

} // namespace kernelskill::lsp
