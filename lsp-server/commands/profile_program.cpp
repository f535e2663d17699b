#include "lsp-server/commands/profile_program.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "engine/program/workload_run.h"
#include "engine/storage/temporary_folder.h"
#include "lsp-server/commands/captured_kernels.h"
#include "lsp-server/commands/chosen_program.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/injected_run.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/commands/user_program.h"
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

/// Builds the program, if one of the workspace's has a build command.
Result<void> build(const engine::Workload& workload) {
    if (workload.build.empty())
        return {};
    const Interruption interruption;
    fmt::print(stderr, "build: {}\n", engine::commandText(workload.build));
    engine::WorkloadRunOptions options;
    options.runs = false;
    options.onOutput = [](int, std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
    };
    KERNELSKILL_TRY(const auto done, engine::runWorkload(workload, options, interruption.token()));
    if (done.failure)
        return std::unexpected(*done.failure);
    return {};
}

bool isWanted(const KernelShare& kernel, const std::string& name) {
    if (!kernel.place)
        return false;
    return name.empty() ? kernel.isHot() : kernel.place->isNamed(name);
}

/// Captures launches of the wanted kernels and profiles them.
class Details {
public:
    Details(const ProgramProfileArguments& arguments, const Invocation& invocation,
            const ChosenProgram& program)
        : arguments_(arguments), invocation_(invocation), program_(program) {}

    /// Fills in the details of the report. An error is one for all kernels.
    Result<void> find(ProgramProfileReport& report) {
        std::vector<std::size_t> wanted;
        engine::Recording recording;
        for (std::size_t i = 0; i < report.profile.kernels.size(); ++i) {
            if (!isWanted(report.profile.kernels[i], arguments_.kernel))
                continue;
            wanted.push_back(i);
            recording.kernels.push_back(report.profile.kernels[i].times.symbol);
        }
        if (wanted.empty())
            return {};
        std::error_code error;
        const auto folder =
            engine::TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-profile");
        if (!folder)
            return std::unexpected(
                Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
        recording.program = engine::commandText(program_.workload.command);
        fmt::print(stderr, "running the program again, to capture {} kernel{}\n", wanted.size(),
                   wanted.size() == 1 ? "" : "s");
        KERNELSKILL_TRY(const auto recorded,
                        recordCaptures(folder->path() / "captures", std::move(recording),
                                       invocation_.options,
                                       inTerminal(program_.workload, invocation_)));
        for (const Error& problem : recorded.captures.problems)
            fmt::print(stderr, "warning: {}\n", problem.describe());
        const Interruption interruption;
        const Options options = optionsOn(arguments_.executor, invocation_.options);
        const fs::path& root = program_.place.root;
        KERNELSKILL_TRY(auto workbench, makeWorkbench(options, skillFoldersOfCommand(root)));
        KERNELSKILL_TRY(const bool measures,
                        usesGpu(arguments_.executor, *workbench, interruption.token()));
        CapturedKernels kernels(std::move(workbench), root, folder->path() / "captures", options);
        for (const std::size_t at : wanted) {
            const KernelShare& kernel = report.profile.kernels[at];
            fmt::print(stderr, "profiling {}\n", kernel.place->qualifiedName);
            report.details[at] =
                profile(kernels, kernel, recorded.captures, measures, interruption.token());
        }
        return {};
    }

private:
    static Result<engine::KernelReport> profile(CapturedKernels& kernels, const KernelShare& kernel,
                                                const engine::StoredCaptures& captures,
                                                bool measures, const std::stop_token& stop) {
        if (std::ranges::none_of(captures.launches, [&](const engine::StoredLaunch& stored) {
                return stored.launch.symbol == kernel.times.symbol;
            }))
            return std::unexpected(Error{ErrorKind::Failed, "no launch of it was captured",
                                         kernel.times.name,
                                         "launches of graphs cannot be (docs/captures.md)"});
        KERNELSKILL_TRY(const auto opened, kernels.open(*kernel.place, kernel.times.symbol));
        const engine::KernelRef ref{opened.snapshot->program, *opened.kernel};
        const auto& profiler = kernels.workbench().profiler();
        return measures ? profiler.profileOnGpu(ref, stop, {}) : profiler.profile(ref, stop, {});
    }

    const ProgramProfileArguments& arguments_;
    const Invocation& invocation_;
    const ChosenProgram& program_;
};

void print(const ProgramProfileReport& report, std::size_t most) {
    const Terminal terminal(stdout);
    const auto rows = programProfileTable(report, most);
    std::vector<std::size_t> widths(rows.front().size() - 1);
    for (const auto& row : rows)
        for (std::size_t i = 0; i < widths.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < widths.size(); ++i) // The bottleneck is no number.
            line += i + 1 == widths.size() ? fmt::format("{:<{}}  ", row[i], widths[i])
                                           : fmt::format("{:>{}}  ", row[i], widths[i]);
        line += row.back();
        fmt::print("{}\n", &row == &rows.front() ? terminal.paint(Colour::Bold, line) : line);
    }
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
    if (const auto built = build(program->workload); !built)
        return reportError(built.error(), invocation);
    const auto recorded =
        recordTimeline(invocation.options, inTerminal(program->workload, invocation));
    if (!recorded)
        return reportError(recorded.error(), invocation);
    const auto tree = engine::listTree(program->place.root, {});
    if (!tree)
        fmt::print(stderr, "warning: {}\n", tree.error().describe());
    const engine::KernelPlaces places(tree.value_or(engine::SourceTree{}), {});
    ProgramProfileReport report;
    report.command = program->workload.command;
    report.status = recorded->status;
    report.dropped = recorded->file.dropped;
    report.profile = engine::programProfile(engine::summaryOf(recorded->file.activities), places,
                                            program->folder);
    report.details.resize(report.profile.kernels.size());
    if (!arguments.kernel.empty() &&
        std::ranges::none_of(report.profile.kernels, [&](const KernelShare& kernel) {
            return isWanted(kernel, arguments.kernel);
        }))
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
        if (const auto found = Details(arguments, invocation, *program).find(report); !found)
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
