#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/model_flags.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/features/memory.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/optimization_json.h"
#include "lsp-server/report/optimization_report.h"
#include "lsp-server/report/ruled_out_text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
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
    int seconds = 300;
    std::uint64_t seed = 0;
    bool hasSeed = false;
    bool noShortTermMemory = false;
    bool noLongTermMemory = false;
    bool write = false;
    std::string report;
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
    if (!found.ruledOut.empty()) {
        fmt::print("{}\n", terminal.paint(Colour::Bold, "ruled out"));
        for (const RuledOutGroup& group : groupByReason(found.ruledOut, found.attempts.size()))
            fmt::print("    {}  {}\n", group.skills, terminal.paint(Colour::Dim, group.why));
    }
    if (!found.diff.empty())
        fmt::print("\n{}", terminal.paintDiff(found.diff));
    if (found.verdict)
        fmt::print("\nall edits together: {}\n", found.verdict->summary);
    fmt::print("\n{}\n", summaryOf(found));
    fmt::print("{}\n", terminal.paint(Colour::Dim, fmt::format("seed {}", found.seed)));
}

/// What replays the run.
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

int run(OptimizeArguments arguments, const Invocation& invocation) {
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
    engine::OptimizationOptions& options = arguments.options;
    options.time = std::chrono::seconds(arguments.seconds);
    options.usesShortTermMemory = !arguments.noShortTermMemory;
    options.usesLongTermMemory = !arguments.noLongTermMemory;
    if (arguments.hasSeed)
        options.seed = arguments.seed;
    options.measure = arguments.executor == "gpu" || arguments.executor == "slurm" ||
                      (arguments.executor == "auto" && snapshot.workbench->gpu().has_value());

    const bool showsProgress = isatty(STDERR_FILENO) != 0;
    const auto say = [&](std::string_view what, double) {
        if (showsProgress)
            fmt::print(stderr, "\r\033[K{}", what);
    };
    const auto model = chosenModel(invocation.options);
    if (!model)
        return reportError(model.error(), invocation);
    const auto found =
        snapshot.workbench->optimize(snapshot.program, **kernel, options, memoryOf(snapshot),
                                     interruption.token(), say, model->get());
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

} // namespace

void addOptimizeCommand(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand(
        "optimize", "Try skills round after round; keep what is correct and better");
    command->fallthrough();
    command->footer(
        "\nExamples:\n"
        "  kernelskill optimize transpose.cu\n"
        "  kernelskill optimize kernels.cu --kernel softmax --on gpu --seconds 120 --write\n"
        "  kernelskill optimize reduce.cu --report reduce.html\n"
        "\nOn a GPU an edit is kept if it is measured faster. Without one it is kept if it is "
        "correct and a cost\n"
        "model of the emulator's counts puts both ends of its time no later and one earlier; such "
        "an edit is\n"
        "unmeasured. All edits together are checked against the original. Ctrl-C stops with the "
        "best so far; a\n"
        "run that was killed goes on where it was. Exit status 1: nothing is better.");
    addJsonFlag(*command, invocation);
    addModelFlags(*command, invocation.options);
    const auto arguments = std::make_shared<OptimizeArguments>();
    command->add_option("FILE", arguments->file, "The CUDA file")->required();
    command->add_option("--kernel", arguments->kernel, "Which kernel; the first by default")
        ->type_name("NAME");
    addExecutorOptions(*command, invocation, arguments->executor,
                       {"auto", "emulator", "gpu", "slurm"});
    command->add_option("--rounds", arguments->options.rounds, "At most so many (8)")
        ->check(CLI::Range(1, 1000))
        ->type_name("N");
    command->add_option("--seconds", arguments->seconds, "At most so long (300)")
        ->check(CLI::Range(1, 86400))
        ->type_name("S");
    command->add_option("--beam", arguments->options.beam, "Plans that a round tries (3)")
        ->check(CLI::Range(1, 64))
        ->type_name("K");
    command
        ->add_option("--seed", arguments->seed,
                     "Of the inputs that edits are checked on: the same seed decides the same")
        ->each([arguments](const std::string&) { arguments->hasSeed = true; })
        ->type_name("N");
    command->add_flag("--no-short-term-memory", arguments->noShortTermMemory,
                      "Neither read nor write what was tried on this code");
    command->add_flag("--no-long-term-memory", arguments->noLongTermMemory,
                      "Neither read nor write what skills have done elsewhere");
    command->add_flag("--write", arguments->write, "Write the best to the file");
    command->add_option("--report", arguments->report, "Write the rounds as a page")
        ->type_name("OUT.html");
    command->callback([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return run(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
