#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/judged_edit.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/documents/old_version.h"
#include "lsp-server/program/injection.h"
#include "lsp-server/report/verification_json.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

namespace {

struct VerifyArguments {
    std::string file;
    std::string against = "HEAD";
    std::string kernel;
    std::string executor; ///< Measures it; empty: as the settings say.
    bool isExact = false;
};

Result<OldVersion> oldVersion(const Snapshot& snapshot, const std::string& against,
                              const std::stop_token& stop) {
    if (analysis::isFile(against))
        return versionInFile(snapshot, against);
    auto old = versionInRevision(snapshot, against, stop);
    if (!old && (against.contains('/') || against.contains('.')) &&
        old.error().what.contains("no revision"))
        old.error().remedy = "there is no file of that name either; " + old.error().remedy;
    return old;
}

Colour colourOf(engine::ChangeOutcome outcome) {
    switch (outcome) {
    case engine::ChangeOutcome::Right:
        return Colour::Green;
    case engine::ChangeOutcome::NotJudged:
        return Colour::Yellow;
    case engine::ChangeOutcome::Wrong:
        break;
    }
    return Colour::Red;
}

/// "saxpy, line 7: its text changed"
std::string headingOf(const Terminal& terminal, const engine::KernelChange& change,
                      const engine::ProgramSource& program) {
    std::string heading = terminal.paint(Colour::Bold, change.name);
    const auto* kernel = analysis::kernelNamed(*program.model, change.name);
    if (kernel != nullptr && kernel->file == program.model->file)
        heading += fmt::format(", line {}",
                               program.model->source->lineColumn(kernel->nameSpan.begin).line + 1);
    return heading + ": " + differencesOf(change);
}

void printDiagnosis(const Terminal& terminal, const engine::CandidateDiagnosis& diagnosis) {
    fmt::print("  cause       {}\n", diagnosis.cause);
    for (const std::string& seen : diagnosis.evidence)
        fmt::print("  seen        {}\n", terminal.paint(Colour::Dim, seen));
    if (!diagnosis.invariant.empty())
        fmt::print("  must hold   {}\n", diagnosis.invariant);
    if (!diagnosis.repair.empty())
        fmt::print("  may help    {} (not tried)\n", diagnosis.repair);
}

void printKernel(const Terminal& terminal, const engine::JudgedKernel& kernel,
                 const engine::ProgramSource& program) {
    fmt::print("\n{}\n", headingOf(terminal, kernel.change, program));
    const bool isRight = kernel.outcome == engine::ChangeOutcome::Right;
    if (isRight && kernel.change.kind == engine::KernelChangeKind::Removed)
        return;
    std::string word(wordFor(kernel.outcome));
    if (kernel.verdict && isRight)
        word += fmt::format(", {}, {}", spelling(kernel.verdict->confidence),
                            spelling(kernel.verdict->status));
    std::string sentence = kernel.note;
    if (kernel.diagnosis)
        sentence = kernel.diagnosis->sentence;
    else if (kernel.verdict)
        sentence += (sentence.empty() ? "" : "; ") + kernel.verdict->summary;
    fmt::print("  {}: {} {}\n", terminal.paint(colourOf(kernel.outcome), word), sentence,
               terminal.paint(Colour::Dim, fmt::format("({:.1f} s)", kernel.seconds)));
    if (kernel.inProgram) {
        const auto& trial = *kernel.inProgram;
        fmt::print("  in {}, launch {} of {}: {}\n", trial.program, trial.launch,
                   kernel.change.oldName.empty() ? kernel.change.name : kernel.change.oldName,
                   terminal.paint(colourOf(trial.outcome), trial.sentence));
        for (const std::string& note : trial.notes)
            fmt::print("    {}\n", terminal.paint(Colour::Dim, note));
    }
    if (kernel.verdict) {
        printChecks(terminal, *kernel.verdict);
        if (isRight)
            printCounters(terminal, *kernel.verdict);
    }
    if (kernel.diagnosis)
        printDiagnosis(terminal, *kernel.diagnosis);
}

void printVerification(const engine::Verification& done, const engine::ProgramSource& program,
                       const std::string& file, const std::string& against) {
    const Terminal terminal(stdout);
    fmt::print("{} against {}: {}\n", file, against, engine::summaryOf(done));
    for (const engine::JudgedKernel& kernel : done.kernels)
        printKernel(terminal, kernel, program);
    if (done.host)
        fmt::print("\n{}\n  {}: {}\n", terminal.paint(Colour::Bold, "code around the kernels"),
                   terminal.paint(colourOf(done.host->outcome), wordFor(done.host->outcome)),
                   done.host->detail);
    if (!done.kernels.empty() && !done.unchanged.empty())
        fmt::print("\n{}\n",
                   terminal.paint(Colour::Dim,
                                  fmt::format("as before: {}", fmt::join(done.unchanged, ", "))));
}

/// The words behind `--`: flags of nvcc, which begin with a dash, then another `--` and a
/// program; or a program alone.
struct WordsBehindDashes {
    std::vector<std::string> flags;
    std::vector<std::string> program;
};

WordsBehindDashes parted(const std::vector<std::string>& words) {
    if (!words.empty() && !words.front().starts_with('-'))
        return {{}, words};
    const auto dashes = std::ranges::find(words, "--");
    if (dashes == words.end())
        return {words, {}};
    return {{words.begin(), dashes}, {dashes + 1, words.end()}};
}

Result<engine::ProgramTrialOptions> programTrial(const std::vector<std::string>& words,
                                                 const VerifyArguments& arguments,
                                                 const Options& options) {
    const auto library = injectedLibrary("libkernelskill-replay.so");
    if (!library)
        return std::unexpected(library.error());
    engine::ProgramTrialOptions wanted;
    wanted.program.words = words;
    wanted.program.library = *library;
    wanted.program.output = STDERR_FILENO;
    wanted.cupti = cuptiFor(options);
    wanted.isExact = arguments.isExact;
    return wanted;
}

int runVerify(const VerifyArguments& arguments, const Invocation& invocation) {
    const Interruption interruption; // Before there are threads: they take its mask over.
    const auto words = parted(invocation.options.fallbackFlags);
    auto options = optionsOn(arguments.executor, invocation.options);
    options.fallbackFlags = words.flags;
    std::optional<engine::ProgramTrialOptions> inProgram;
    if (!words.program.empty()) {
        auto wanted = programTrial(words.program, arguments, options);
        if (!wanted)
            return reportError(wanted.error(), invocation);
        inProgram = std::move(*wanted);
    }
    const auto opened = openInput(arguments.file, options);
    if (!opened)
        return reportError(opened.error(), invocation);
    const Snapshot& snapshot = **opened;
    const auto old = oldVersion(snapshot, arguments.against, interruption.token());
    if (!old)
        return reportError(old.error(), invocation);
    const bool showsProgress = isatty(STDERR_FILENO) != 0;
    const auto say = [&](std::string_view what, double) {
        if (showsProgress)
            fmt::print(stderr, "\r\033[K{}", what);
    };
    const auto numerics =
        arguments.isExact ? skills::Numerics::Exact : skills::Numerics::Reassociates;
    const auto done = snapshot.workbench->verifier().verify(old->program, snapshot.program,
                                                            {arguments.kernel, numerics, inProgram},
                                                            interruption.token(), say);
    if (showsProgress)
        fmt::print(stderr, "\r\033[K");
    if (!done)
        return reportError(done.error(), invocation);
    if (invocation.json)
        printJson(verificationJson(*done, snapshot.program, arguments.against, old->commit));
    else
        printVerification(*done, snapshot.program, arguments.file, old->called);
    return done->outcome() == engine::ChangeOutcome::Right ? exitDone : exitNothingFound;
}

} // namespace

void addVerifyCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "verify", "Check your own change of kernels against another version, as an edit of a skill "
                  "is checked");
    command.footer(
        "\nExamples:\n"
        "  kernelskill verify saxpy.cu                        against the last commit\n"
        "  kernelskill verify saxpy.cu --against main~3       against another commit\n"
        "  kernelskill verify fast.cu --against simple.cu     against another file\n"
        "  kernelskill verify saxpy.cu -- -Iinclude -DN=64    pass nvcc's flags after `--`\n"
        "  kernelskill verify saxpy.cu -- ./program 1024      try it in a program, too\n"
        "  kernelskill verify saxpy.cu -- -DN=64 -- ./program flags and a program\n"
        "\nKernels that differ by more than comments and white space, or whose launches or used "
        "functions do, are compiled\n"
        "and run in both versions, on a GPU also timed. Headers are compared as the commit has "
        "them. Sums may be formed in\n"
        "another order unless --exact is given: errors against float64 tell rounding from "
        "mistakes.\n"
        "With a program, which is built from one of the two versions, each kernel that is right is "
        "also "
        "tried at its first launch\n"
        "there: all memory of the program has to be as before. It needs a GPU.\n"
        "Exit status: 0 all that changed is right, or nothing changed; 1 something is wrong or "
        "could not be judged.");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<VerifyArguments>();
    addFileArgument(command, arguments->file);
    command.option(&arguments->against,
                   {.name = "--against",
                    .placeholder = "REV|FILE",
                    .help = "The version to compare with: a file, else a revision of git (HEAD)",
                    .check = [](const std::string& value) {
                        return value.empty() ? "it needs a revision or a file, such as HEAD" : "";
                    }});
    command.option(&arguments->kernel, {.name = "--kernel",
                                        .placeholder = "NAME",
                                        .help = "Judge this kernel alone",
                                        .check = missingName});
    command.flag(arguments->isExact, {.name = "--exact", .help = "Results must agree bit by bit"});
    addExecutorOptions(command, invocation, arguments->executor, {"emulator", "gpu", "slurm"});
    addSanitizerFlag(command, invocation);
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runVerify(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
