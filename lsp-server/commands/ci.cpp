#include "analysis/source/json.h"
#include "engine/regression/comparison_with_baseline.h"
#include "lsp-server/commands/ci_program.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/regression_output.h"
#include "lsp-server/program/kernel_counts.h"
#include "lsp-server/report/regression_report.h"
#include "lsp-server/version.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;
using engine::Baseline;

constexpr const char* programGroup = "Of a program";

/// Runs every kernel of the files.
Result<Baseline> count(const std::vector<std::string>& files, const fs::path& folder,
                       const Options& options, const std::stop_token& stop) {
    Baseline now{version, options.gpu, {}};
    for (const std::string& file : files) {
        const auto snapshot = openInput(file, options);
        if (!snapshot)
            return std::unexpected(snapshot.error());
        for (const analysis::KernelModel& kernel : (*snapshot)->model().kernels) {
            if (stop.stop_requested())
                return std::unexpected(Error{ErrorKind::Cancelled, "stopped", file, {}});
            auto result = countsOf(**snapshot, kernel, options.gpu, stop);
            result.file = pathFrom(folder, file);
            addCounted(now, std::move(result));
        }
    }
    if (stop.stop_requested())
        return std::unexpected(Error{ErrorKind::Cancelled, "stopped", {}, {}});
    return now;
}

/// The files that the user names, else those of the baseline.
std::vector<std::string> filesOf(const CiArguments& arguments, const Baseline& baseline,
                                 const fs::path& folder) {
    if (!arguments.files.empty())
        return arguments.files;
    std::vector<std::string> files;
    for (const engine::CountedKernel& kernel : baseline.kernels) {
        const std::string file = (folder / kernel.file).lexically_normal().string();
        if (std::ranges::find(files, file) == files.end())
            files.push_back(file);
    }
    return files;
}

/// The baseline's kernels that are not of these files: they stay as they are.
std::vector<engine::CountedKernel> kernelsElsewhere(const Baseline& baseline,
                                                    const std::vector<std::string>& files,
                                                    const fs::path& folder) {
    std::vector<engine::CountedKernel> others;
    std::ranges::copy_if(baseline.kernels, std::back_inserter(others),
                         [&](const engine::CountedKernel& kernel) {
                             return std::ranges::none_of(files, [&](const std::string& file) {
                                 return pathFrom(folder, file) == kernel.file;
                             });
                         });
    return others;
}

int runFiles(const CiArguments& arguments, const Invocation& invocation) {
    const fs::path file = arguments.baselineFile();
    const fs::path folder = file.parent_path();
    auto baseline = engine::readBaseline(file);
    // --update writes a new baseline where there is none, or none that can be read.
    if (!baseline && !(arguments.update && !arguments.files.empty()))
        return failCi(baseline.error(), invocation);
    const Baseline before = baseline.value_or(Baseline{version, invocation.options.gpu, {}});
    const auto files = filesOf(arguments, before, folder);
    if (files.empty())
        return failCi({ErrorKind::InvalidInput, "no file to count", arguments.baseline,
                       "name the CUDA files"},
                      invocation);
    Options options = invocation.options;
    if (!invocation.namesGpu && baseline)
        options.gpu = before.gpu;
    const Interruption interruption;
    auto now = count(files, folder, options, interruption.token());
    if (!now)
        return failCi(now.error(), invocation);
    const auto others = kernelsElsewhere(before, files, folder);
    Baseline compared = before;
    compared.kernels.clear();
    std::ranges::copy_if(before.kernels, std::back_inserter(compared.kernels),
                         [&](const engine::CountedKernel& kernel) {
                             return std::ranges::none_of(others, [&](const auto& other) {
                                 return other.file == kernel.file;
                             });
                         });
    const auto changes = engine::compareWithBaseline(compared, *now, {arguments.tolerance});
    now->kernels.insert(now->kernels.end(), others.begin(), others.end());
    return finishCi(arguments, invocation, countReport(changes), countsJson(changes),
                    engine::baselineJson(*now).dump(2) + "\n");
}

int runCi(const CiArguments& arguments, const Invocation& invocation) {
    const auto& words = invocation.options.fallbackFlags;
    // Flags of a compiler begin with a dash.
    const bool isProgram =
        !arguments.program.empty() || (!words.empty() && !words.front().starts_with('-'));
    if (isProgram && !arguments.files.empty())
        return failCi({ErrorKind::InvalidInput,
                       "both files and a program are given",
                       {},
                       "give one of them; flags of a compiler behind `--` begin with a dash"},
                      invocation);
    if (!isProgram && (arguments.runs > 0 || !arguments.executor.empty()))
        return failCi({ErrorKind::InvalidInput,
                       "--runs and --on are for a program",
                       {},
                       "put the program behind `--`; kernels of files run on the emulator"},
                      invocation);
    return isProgram ? runProgramCi(arguments, invocation) : runFiles(arguments, invocation);
}

} // namespace

void addCiCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "ci", "Compare kernels with a stored baseline: their counts on the emulator, or the times "
              "of a program's kernels");
    command.footer(
        "\nExamples:\n"
        "  kernelskill ci --baseline kernels.json --update src/*.cu   count, and keep the counts\n"
        "  kernelskill ci --baseline kernels.json                     compare: status 1 if one is "
        "worse\n"
        "  kernelskill ci --baseline kernels.json --junit out.xml --markdown out.md\n"
        "  kernelskill ci --baseline sums.json --update -- ./sums 64  time a program's kernels, "
        "and keep the times\n"
        "  kernelskill ci --baseline sums.json -- ./sums 64           compare: status 1 if one is "
        "slower\n"
        "\nOf files: sectors, bank conflicts, atomics, arithmetic, barriers and divergence are "
        "counted; they are the same\n"
        "in each run. A kernel is worse if a count rose and none fell, if it has a new hazard, or "
        "if it cannot be run\n"
        "any more. Where some rose and others fell only a measurement can tell: it is mixed, and "
        "no failure.\n"
        "Of a program: it runs 5 times, and up to 16 times for at most a minute where its kernels "
        "have less than 16 launches.\n"
        "A kernel is slower if that is certain, and by more than 2 %. Without a GPU, and with --on "
        "emulator, its kernels\n"
        "are counted instead. Times of another GPU or command are not compared.\n"
        "Exit status: 0 nothing is worse; 1 a kernel is, and that is certain; 2 what cannot be "
        "read, or a program that fails;\n"
        "3 no such baseline, or something else is missing.");
    const auto arguments = std::make_shared<CiArguments>();
    addJsonFlag(command, invocation);
    command.option(
        &arguments->files,
        {.name = "FILE",
         .help = "CUDA files; those of the baseline by default, if no program is given"});
    command.option(&arguments->baseline, {.name = "--baseline",
                                          .placeholder = "FILE.json",
                                          .help = "The file to compare with",
                                          .required = true});
    command.flag(arguments->update, {.name = "--update", .help = "Keep what was found in it"});
    command.option(
        &arguments->junit,
        {.name = "--junit", .placeholder = "OUT.xml", .help = "Write the result as JUnit's XML"});
    command.option(
        &arguments->markdown,
        {.name = "--markdown", .placeholder = "OUT.md", .help = "Write a summary for a review"});
    command.option(&arguments->tolerance,
                   {.name = "--tolerance",
                    .placeholder = "PERCENT",
                    .help = "A count that changes by no more is the same (1)",
                    .range = {{0, 1000}}});
    command.option(&arguments->executor,
                   {.name = "--on",
                    .placeholder = "EXECUTOR",
                    .help = "gpu: times; emulator: counts; times by default, if there is a GPU",
                    .group = programGroup,
                    .choices = {"emulator", "gpu"}});
    command.option(&arguments->program,
                   {.name = "--program",
                    .placeholder = "NAME",
                    .help = "Build and run this program of the workspace (`program detect`)",
                    .group = programGroup,
                    .check = missingName});
    command.option(&arguments->runs,
                   {.name = "--runs",
                    .placeholder = "N",
                    .help = "Runs to time; 5 by default, or more where kernels have few launches",
                    .group = programGroup,
                    .range = {{1, 1000}}});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runCi(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
