#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/model_flags.h"
#include "lsp-server/commands/optimize_program.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/optimization_json.h"
#include "lsp-server/report/optimization_report.h"
#include "lsp-server/report/remaining_text.h"
#include "lsp-server/report/ruled_out_text.h"

#include <spdlog/fmt/fmt.h>

#include <csignal>
#include <memory>
#include <stop_token>
#include <thread>
#include <unistd.h>

namespace kernelskill::lsp {

namespace {

struct OptimizeArguments {
    std::string file;
    std::string kernel;
    std::string executor = "auto";
    engine::OptimizationOptions options;
    int seconds = 0; ///< 0: 300, or 60 for a whole program.
    std::uint64_t seed = 0;
    bool hasSeed = false;
    bool noShortTermMemory = false;
    bool noLongTermMemory = false;
    bool write = false;
    std::string report;
    ProgramOptimizationArguments program; ///< If there is no file.
};

void printAttempt(const Terminal& terminal, const engine::Attempt& attempt) {
    fmt::print("{} {}  {}\n", terminal.paint(Colour::Bold, fmt::format("round {}", attempt.round)),
               attempt.isKept ? terminal.paint(Colour::Green, "kept   ")
                              : terminal.paint(Colour::Dim, "dropped"),
               attempt.plan.offer.skillId);
    if (attempt.bottleneck)
        fmt::print("    bottleneck  {}\n",
                   terminal.paint(Colour::Yellow, spelling(attempt.bottleneck->kind)));
    fmt::print("    plan        {}\n    decision    {}\n", attempt.plan.why, attempt.decision);
    if (attempt.diagnosis) {
        fmt::print("    cause       {}: {}\n", attempt.diagnosis->cause,
                   attempt.diagnosis->sentence);
        if (!attempt.diagnosis->repair.empty())
            fmt::print("    repair      {}\n",
                       terminal.paint(Colour::Dim, attempt.diagnosis->repair));
    }
}

void printOptimization(const engine::Optimization& found) {
    const Terminal terminal(stdout);
    for (const engine::Attempt& attempt : found.attempts)
        printAttempt(terminal, attempt);
    if (!found.ruledOut.empty())
        fmt::print("{}\n", terminal.paint(Colour::Dim,
                                          fmt::format("{} not fit; `check --why` tells the "
                                                      "reasons, and --json and --report list them",
                                                      found.ruledOut.size() == 1
                                                          ? std::string("1 skill does")
                                                          : fmt::format("{} skills do",
                                                                        found.ruledOut.size()))));
    if (!found.diff.empty())
        fmt::print("\n{}", terminal.paintDiff(found.diff));
    if (found.remaining) {
        fmt::print("\n{}\n", terminal.paint(Colour::Bold, "what is left"));
        for (const RemainingLine& line : remainingLines(*found.remaining))
            fmt::print("    {:<10}  {}\n", line.label, line.text);
    }
    if (found.verdict)
        fmt::print("\nall edits together: {}\n", found.verdict->summary);
    fmt::print("\n{}\n", summaryOf(found));
    fmt::print("{}\n", terminal.paint(Colour::Dim, fmt::format("seed {}", found.seed)));
}

/// The command that replays the run.
std::string commandOf(const OptimizeArguments& arguments, const engine::Optimization& found) {
    return fmt::format("kernelskill optimize {} --kernel {} --on {} --rounds {} --seconds {} "
                       "--beam {} --seed {}{}{}",
                       arguments.file, found.kernel, found.executor, arguments.options.rounds,
                       arguments.seconds, arguments.options.beam, found.seed,
                       arguments.noShortTermMemory ? " --no-short-term-memory" : "",
                       arguments.noLongTermMemory ? " --no-long-term-memory" : "");
}

Result<void> writeReportFile(const OptimizeArguments& arguments,
                             const engine::Optimization& found) {
    return replaceFile(arguments.report, writeReport(optimizationReport(
                                             found, arguments.file, commandOf(arguments, found))));
}

int runOptimizeProgram(OptimizeArguments& arguments, const Invocation& invocation) {
    if (!arguments.report.empty())
        return reportError({ErrorKind::InvalidInput, "--report is for one kernel of a FILE",
                            "optimize", "use --json for a whole program"},
                           invocation);
    ProgramOptimizationArguments& program = arguments.program;
    program.write = arguments.write;
    program.search.kernel = arguments.kernel;
    program.executor = arguments.executor;
    program.search.options = arguments.options;
    constexpr int standard = 60;
    program.search.budget =
        std::chrono::seconds(arguments.seconds > 0 ? arguments.seconds : standard);
    return optimizeProgram(program, invocation);
}

int runOptimize(OptimizeArguments arguments, const Invocation& invocation) {
    engine::OptimizationOptions& options = arguments.options;
    options.usesShortTermMemory = !arguments.noShortTermMemory;
    options.usesLongTermMemory = !arguments.noLongTermMemory;
    if (arguments.hasSeed)
        options.seed = arguments.seed;
    if (arguments.file.empty())
        return runOptimizeProgram(arguments, invocation);
    if (!arguments.program.program.empty() || !arguments.program.build.empty() ||
        !arguments.program.check.empty())
        return reportError({ErrorKind::InvalidInput, "both a file and a program are given",
                            arguments.file,
                            "--program, --build and --check are for a whole program, without FILE"},
                           invocation);
    constexpr int standard = 300;
    if (arguments.seconds == 0)
        arguments.seconds = standard;
    const Interruption interruption; // Before there are threads: they take its mask over.
    const auto opened =
        openInput(arguments.file, optionsOn(arguments.executor, invocation.options));
    if (!opened)
        return reportError(opened.error(), invocation);
    const Snapshot& snapshot = **opened;
    const auto kernel = chooseKernel(snapshot, arguments.kernel);
    if (!kernel)
        return reportError(kernel.error(), invocation);
    if (arguments.kernel.empty() && snapshot.model().kernels.size() > 1)
        fmt::print(stderr, "the file has {} kernels; this is '{}' (choose with --kernel)\n",
                   snapshot.model().kernels.size(), (*kernel)->qualifiedName);
    options.time = std::chrono::seconds(arguments.seconds);
    options.measure =
        arguments.executor == "gpu" || arguments.executor == "slurm" ||
        (arguments.executor == "auto" && snapshot.workbench->machines().gpu().has_value());

    const bool showsProgress = isatty(STDERR_FILENO) != 0;
    const auto say = [&](std::string_view what, double) {
        if (showsProgress)
            fmt::print(stderr, "\r\033[K{}", what);
    };
    const auto model = chosenModel(invocation.options);
    if (!model)
        return reportError(model.error(), invocation);
    const auto found = snapshot.workbench->advisor().optimize(
        {snapshot.program, **kernel}, options, snapshot.memory(), interruption.token(), say,
        model->get());
    if (showsProgress)
        fmt::print(stderr, "\r\033[K");
    if (*model)
        fmt::print(stderr, "{}: {}\n", (*model)->name(),
                   describe((*model)->spending(), (*model)->prices()));
    if (!found)
        return reportError(found.error(), invocation);
    if (!found->notRemembered.empty())
        fmt::print(stderr, "warning: not remembered: {}\n", found->notRemembered);
    TextLookup texts(snapshot.program);
    if (invocation.json)
        printJson(optimizationJson(*found, snapshot.program.file, texts, PositionEncoding::Utf16));
    else
        printOptimization(*found);
    if (!arguments.report.empty()) {
        if (const auto written = writeReportFile(arguments, *found); !written)
            return reportError(written.error(), invocation);
    }
    if (!found->isImproved())
        return exitNothingFound;
    if (arguments.write) {
        if (const auto written = writeEdits(found->edits, texts); !written)
            return reportError(written.error(), invocation);
        fmt::print(stderr, "written: {}\n", arguments.file);
    }
    return exitDone;
}

void addProgramOptions(CliCommand& command, ProgramOptimizationArguments& program) {
    constexpr const char* group = "Of a whole program";
    command.option(&program.program,
                   {.name = "--program",
                    .placeholder = "NAME",
                    .help = "A program of the workspace (`program detect`), in place of `--`",
                    .group = group,
                    .check = missingName});
    command.option(&program.build,
                   {.name = "--build",
                    .placeholder = "COMMAND",
                    .help = "Builds the program; by default as the workspace's program of this "
                            "command is built",
                    .group = group});
    command.option(&program.check, {.name = "--check",
                                    .placeholder = "COMMAND",
                                    .help = "Reads the program's output; status 0: it is right. By "
                                            "default outputs are compared",
                                    .group = group});
    command.option(&program.search.maxKernels, {.name = "--kernels",
                                                .placeholder = "N",
                                                .help = "Max number of kernels to search (all with "
                                                        "5 % of the kernels' time)",
                                                .group = group,
                                                .range = {{1, 1000}}});
    command.option(&program.copyMebibytes,
                   {.name = "--copy-limit",
                    .placeholder = "MIB",
                    .help = "Max size of the workspace, which is copied twice, in MiB (1024)",
                    .group = group,
                    .range = {{1, 1 << 20}}});
}

} // namespace

void addOptimizeCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command =
        program.add("optimize", "Try skills round after round; keep what is correct and faster");
    command.footer(
        "\nExamples:\n"
        "  kernelskill optimize transpose.cu\n"
        "  kernelskill optimize kernels.cu --kernel softmax --on gpu --seconds 120 --write\n"
        "  kernelskill optimize reduce.cu --report reduce.html\n"
        "  kernelskill optimize --build 'nvcc -O3 a.cu -o a' -- ./a 1024\n"
        "  kernelskill optimize --program small --seconds 120 --write\n"
        "\nOn a GPU an edit is kept if it is measured faster. Without a GPU an edit is kept if it "
        "is correct and a\n"
        "cost model of the emulator's counts predicts a better time; its verdict is then "
        "`unmeasured`. All kept\n"
        "edits together are checked against the original. Ctrl-C stops with the best so far; a "
        "killed run resumes\n"
        "where it stopped. Exit status 1: nothing better was found.");
    addJsonFlag(command, invocation);
    addModelFlags(command, invocation.options);
    const auto arguments = std::make_shared<OptimizeArguments>();
    command.option(&arguments->file,
                   {.name = "FILE", .help = "The CUDA file; none: the program behind `--`"});
    command.option(&arguments->kernel, {.name = "--kernel",
                                        .placeholder = "NAME",
                                        .help = "The kernel; the first one by default, of a "
                                                "program all hot ones",
                                        .check = missingName});
    addExecutorOptions(command, invocation, arguments->executor,
                       {"auto", "emulator", "gpu", "slurm"});
    addSanitizerFlag(command, invocation);
    command.option(&arguments->options.rounds, {.name = "--rounds",
                                                .placeholder = "N",
                                                .help = "Max number of rounds (8)",
                                                .range = {{1, 1000}}});
    command.option(&arguments->seconds, {.name = "--seconds",
                                         .placeholder = "S",
                                         .help = "Time limit in seconds (300; 60 for a program)",
                                         .range = {{1, 86400}}});
    command.option(&arguments->options.beam, {.name = "--beam",
                                              .placeholder = "K",
                                              .help = "Candidates that each round tries (3)",
                                              .range = {{1, 64}}});
    command.option(
        &arguments->seed,
        {.name = "--seed",
         .placeholder = "N",
         .help = "Seed of the inputs that edits are checked on; equal seeds decide alike",
         .whenGiven = [arguments] { arguments->hasSeed = true; }});
    command.flag(arguments->noShortTermMemory,
                 {.name = "--no-short-term-memory",
                  .help = "Neither read nor write what was tried on this code"});
    command.flag(arguments->noLongTermMemory,
                 {.name = "--no-long-term-memory",
                  .help = "Neither read nor write how skills did on other kernels"});
    command.flag(arguments->write,
                 {.name = "--write", .help = "Write the best version to the file"});
    command.option(&arguments->report, {.name = "--report",
                                        .placeholder = "OUT.html",
                                        .help = "Write a report of all rounds as an HTML page"});
    addProgramOptions(command, arguments->program);
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runOptimize(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
