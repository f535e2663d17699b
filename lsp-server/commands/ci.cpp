#include "analysis/source/json.h"
#include "engine/diagnosis/cost_model.h"
#include "engine/regression/comparison_with_baseline.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/report/regression_report.h"
#include "lsp-server/version.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;
using engine::Baseline;
using engine::CountChange;
using engine::CountedKernelChange;

struct CiArguments {
    std::vector<std::string> files;
    std::string baseline;
    std::string junit;
    std::string markdown;
    double tolerance = engine::CountTolerance{}.percent;
    bool update = false;
};

/// The file's name in a baseline: from its folder, so that another checkout has the same.
std::string nameFrom(const fs::path& folder, const std::string& file) {
    std::error_code error;
    const auto path = fs::absolute(file, error).lexically_normal();
    return path.lexically_relative(folder).generic_string();
}

engine::CountedKernel counted(const Snapshot& snapshot, const analysis::KernelModel& kernel,
                              const std::string& gpuName, const std::stop_token& stop) {
    const engine::KernelRef ref{snapshot.program, kernel};
    const auto& workbench = *snapshot.workbench;
    const auto report = workbench.profiler().profile(ref, stop, {}, engine::Profiler::Facts::Later);
    if (!report) {
        engine::CountedKernel failed;
        failed.kernel = kernel.qualifiedName;
        failed.failure = report.error().describe();
        return failed;
    }
    auto result = engine::countedKernel(*report->profile);
    result.kernel = kernel.qualifiedName;
    const auto& gpus = engine::builtinGpus();
    const auto* gpu = gpus ? engine::gpuNamed(*gpus, gpuName) : nullptr;
    const auto features = workbench.knowledge().features(ref);
    if (gpu != nullptr && features)
        if (const auto cost = engine::costOf({kernel, *features, *report->profile, *gpu}))
            result.seconds = cost->seconds;
    return result;
}

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
            auto result = counted(**snapshot, kernel, options.gpu, stop);
            result.file = nameFrom(folder, file);
            for (int i = 2; now.find(result.file, result.kernel) != nullptr; ++i) // overloads
                result.kernel = fmt::format("{} #{}", kernel.qualifiedName, i);
            now.kernels.push_back(std::move(result));
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
                                 return nameFrom(folder, file) == kernel.file;
                             });
                         });
    return others;
}

void print(const std::vector<CountedKernelChange>& changes) {
    const Terminal terminal(stdout);
    for (const CountedKernelChange& change : changes) {
        const bool isBad = change.change == CountChange::Worse;
        const bool isGood = change.change == CountChange::Better;
        fmt::print("{}  {}  {}\n",
                   terminal.paint(isBad    ? Colour::Red
                                  : isGood ? Colour::Green
                                           : Colour::Dim,
                                  fmt::format("{:<14}", spelling(change.change))),
                   terminal.paint(Colour::Bold, change.kernel), change.file);
        for (const std::string& line : {changedCountsText(change), change.reason})
            if (!line.empty())
                fmt::print("                {}\n", line);
    }
    fmt::print("{}\n", regressionSummary(changes));
}

/// Writes what was asked for beside the answer.
Result<void> writeReports(const CiArguments& arguments,
                          const std::vector<CountedKernelChange>& changes) {
    if (!arguments.junit.empty())
        if (auto written = replaceFile(arguments.junit, regressionJunit(changes)); !written)
            return written;
    if (!arguments.markdown.empty())
        if (auto written = replaceFile(arguments.markdown, regressionMarkdown(changes)); !written)
            return written;
    return {};
}

int runCi(const CiArguments& arguments, const Invocation& invocation) {
    std::error_code error;
    const fs::path file = fs::absolute(arguments.baseline, error).lexically_normal();
    const fs::path folder = file.parent_path();
    auto baseline = engine::readBaseline(file);
    // --update writes a new baseline where there is none, or none that can be read.
    if (!baseline && !(arguments.update && !arguments.files.empty()))
        return reportError(baseline.error(), invocation);
    const Baseline before = baseline.value_or(Baseline{version, invocation.options.gpu, {}});
    const auto files = filesOf(arguments, before, folder);
    if (files.empty())
        return reportError({ErrorKind::InvalidInput, "no file to count", arguments.baseline,
                            "name the CUDA files"},
                           invocation);
    Options options = invocation.options;
    if (!invocation.namesGpu && baseline)
        options.gpu = before.gpu;
    const Interruption interruption;
    auto now = count(files, folder, options, interruption.token());
    if (!now)
        return reportError(now.error(), invocation);
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
    if (const auto written = writeReports(arguments, changes); !written)
        return reportError(written.error(), invocation);
    if (invocation.json)
        printJson(regressionJson(changes));
    else
        print(changes);
    if (arguments.update) {
        now->kernels.insert(now->kernels.end(), others.begin(), others.end());
        const std::string text = engine::baselineJson(*now).dump(2) + "\n";
        if (const auto written = replaceFile(file, text); !written)
            return reportError(written.error(), invocation);
        fmt::print(stderr, "written to {}\n", arguments.baseline);
        return exitDone;
    }
    const bool isWorse = std::ranges::find(changes, CountChange::Worse,
                                           &CountedKernelChange::change) != changes.end();
    return isWorse ? exitNothingFound : exitDone;
}

} // namespace

void addCiCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "ci", "Compare what kernels do on the emulator with a stored baseline; needs no GPU");
    command.footer(
        "\nExamples:\n"
        "  kernelskill ci --baseline kernels.json --update src/*.cu   count, and keep the counts\n"
        "  kernelskill ci --baseline kernels.json                     compare: status 1 if one is "
        "worse\n"
        "  kernelskill ci --baseline kernels.json --junit out.xml --markdown out.md\n"
        "\nSectors, bank conflicts, atomics, arithmetic, barriers and divergence are counted; they "
        "are the same in\n"
        "each run. A kernel is worse if a count rose and none fell, if it has a new hazard, or if "
        "it cannot be run\n"
        "any more. Where some rose and others fell only a measurement can tell: it is mixed, and "
        "no failure.");
    const auto arguments = std::make_shared<CiArguments>();
    addJsonFlag(command, invocation);
    command.option(&arguments->files,
                   {.name = "FILE", .help = "CUDA files; those of the baseline by default"});
    command.option(&arguments->baseline, {.name = "--baseline",
                                          .placeholder = "FILE.json",
                                          .help = "The counts to compare with",
                                          .required = true});
    command.flag(arguments->update, {.name = "--update", .help = "Keep the new counts in it"});
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
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runCi(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
