#include "analysis/source/json.h"
#include "engine/execution/metric_names.h"
#include "lsp-server/commands/command_line.h"
#include "lsp-server/commands/compared_profiles.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/file_writer.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/commands/profile_program.h"
#include "lsp-server/commands/terminal.h"
#include "lsp-server/documents/text_lookup.h"
#include "lsp-server/report/access_cost.h"
#include "lsp-server/report/evidence_text.h"
#include "lsp-server/report/file_page.h"
#include "lsp-server/report/gpu_text.h"
#include "lsp-server/report/hazard_text.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/json_report.h"
#include "lsp-server/report/launch_text.h"
#include "lsp-server/report/metric_text.h"
#include "lsp-server/report/remedy_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace kernelskill::lsp {

namespace names = engine::metric;

namespace {

struct ProfileArguments {
    std::string file;   ///< Empty: a whole program.
    std::string report; ///< Path of the page to write; empty: none.
    std::string kernel;
    std::string executor = "emulator";
    std::string executorGiven; ///< Empty: --on was not given.
    std::string baseline;      ///< A stored profile to compare with; empty: none.
    std::string against;       ///< Another kernel of the file to compare with; empty: none.
    std::string imported;      ///< A report of Nsight Compute; empty: none.
    ProgramProfileArguments program;
};

std::string number(const engine::Metrics& metrics, const char* name) {
    const auto value = engine::findMetric(metrics, name);
    return value && *value != 0 ? formatNumber(*value) : "";
}

std::string sum(const engine::Metrics& metrics, const char* first, const char* second) {
    const double total = engine::findMetric(metrics, first).value_or(0) +
                         engine::findMetric(metrics, second).value_or(0);
    return total == 0 ? "" : shortNumber(total);
}

std::string count(const engine::Metrics& metrics, const char* name) {
    return sum(metrics, name, "");
}

/// A column of the table of lines: empty where there is nothing to say.
struct LineColumn {
    std::string_view title;
    std::string (*text)(const engine::Metrics& metrics);
};
constexpr std::array lineColumns{
    LineColumn{"sect/ld",
               [](const engine::Metrics& m) { return number(m, names::load.sectorsPerRequest); }},
    LineColumn{"sect/st",
               [](const engine::Metrics& m) { return number(m, names::store.sectorsPerRequest); }},
    LineColumn{"conflict",
               [](const engine::Metrics& m) {
                   return sum(m, names::load.sharedConflicts, names::store.sharedConflicts);
               }},
    LineColumn{"atom/req",
               [](const engine::Metrics& m) { return number(m, names::atomicContention); }},
    LineColumn{"flop",
               [](const engine::Metrics& m) { return count(m, names::floatingOperations); }},
    LineColumn{"barriers", [](const engine::Metrics& m) { return count(m, names::barriers); }},
    LineColumn{"div.br",
               [](const engine::Metrics& m) { return count(m, names::divergentBranchTargets); }},
    LineColumn{"stall %",
               [](const engine::Metrics& m) {
                   const auto share = engine::findMetric(m, names::stallPercent);
                   return share ? fmt::format("{:.1f}", *share) : std::string();
               }},
    LineColumn{"lanes",
               [](const engine::Metrics& m) {
                   const auto lanes = engine::findMetric(m, names::activeThreads);
                   return lanes ? fmt::format("{:.3g}", *lanes) : std::string();
               }},
};

void printLines(const Terminal& terminal, const engine::Profile& profile, TextLookup& texts) {
    if (profile.lines.empty())
        return;
    std::vector<const LineColumn*> columns; // those that say something of some line
    for (const LineColumn& column : lineColumns) {
        if (std::ranges::any_of(profile.lines, [&](const engine::LineMetrics& line) {
                return !column.text(line.metrics).empty();
            }))
            columns.push_back(&column);
    }
    std::string titles;
    for (const LineColumn* column : columns)
        titles += fmt::format("{:>8} ", column->title);
    fmt::print("\n{}\n{}\n", terminal.paint(Colour::Bold, "Lines"),
               terminal.paint(Colour::Dim, titles + "  source"));
    for (const engine::LineMetrics& line : profile.lines) {
        std::string row;
        bool hasMore = false; // Than lanes, which every line has.
        for (const LineColumn* column : columns) {
            const std::string text = column->text(line.metrics);
            hasMore |= !text.empty() && column != &lineColumns.back();
            row += fmt::format("{:>8} ", text);
        }
        if (!hasMore)
            continue;
        std::string_view source = texts(line.file).line(line.line);
        source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
        fmt::print("{}  {} {}\n", row,
                   terminal.paint(Colour::Dim, fmt::format("{:4} |", line.line + 1)), source);
    }
}

/// Prints a hazard with the lines of both sides.
void printHazard(const Terminal& terminal, const engine::Hazard& hazard,
                 const engine::LaunchSpec& launch, const Snapshot& snapshot, TextLookup& texts,
                 const std::string& shownName) {
    const auto printLine = [&](const std::string& file, std::uint32_t line) {
        std::string_view source = texts(file).line(line);
        source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
        fmt::print("    {} {}\n", terminal.paint(Colour::Dim, fmt::format("{:4} |", line + 1)),
                   source);
    };
    fmt::print("  {}:{}: {} {}\n", hazard.file == snapshot.model().file ? shownName : hazard.file,
               hazard.line + 1,
               terminal.paint(isSureOf(hazard, launch) ? Colour::Red : Colour::Yellow,
                              hazardName(hazard, launch) + ":"),
               hazard.message);
    if (!hazard.file.empty())
        printLine(hazard.file, hazard.line);
    if (!hazard.otherFile.empty() &&
        (hazard.otherFile != hazard.file || hazard.otherLine != hazard.line))
        printLine(hazard.otherFile, hazard.otherLine);
}

void printReport(const engine::KernelReport& report, const Snapshot& snapshot,
                 const std::string& shownName) {
    const Terminal terminal(stdout);
    const engine::Profile& profile = *report.profile;
    TextLookup texts(snapshot.program);
    fmt::print("{} on the {}\n  {}\n", terminal.paint(Colour::Bold, profile.kernel),
               profile.executor, describeLaunch(profile.launch));
    if (const std::string arguments = describeArguments(profile.launch); !arguments.empty())
        fmt::print("  {}\n", arguments);
    for (const std::string& note : profile.launch.notes)
        fmt::print("  {}\n", terminal.paint(Colour::Dim, note));
    const std::string headroom = describeHeadroom(*report.bottleneck);
    fmt::print("\n{}  {}{}\n", terminal.paint(Colour::Cyan, "bottleneck"),
               terminal.paint(Colour::Yellow, spelling(report.bottleneck->kind)),
               headroom.empty() ? "" : ", " + headroom);
    if (headroomFactor(*report.bottleneck))
        fmt::print("            the headroom is a model's: {}\n", report.bottleneck->gain->basis);
    for (const engine::Evidence& evidence : report.bottleneck->evidence)
        fmt::print("            {}\n", describeEvidence(evidence));

    const std::vector<std::string> gpu = gpuLines(report);
    for (std::size_t i = 0; i < gpu.size(); ++i)
        fmt::print("{}  {}\n",
                   i == 0 ? "\n" + terminal.paint(Colour::Cyan, "gpu       ") : "          ",
                   gpu[i]);

    for (const MetricSection& section : metricSections(reportMetrics(report))) {
        fmt::print("\n{}\n", terminal.paint(Colour::Bold, section.title));
        for (const MetricText& text : section.metrics)
            fmt::print("  {:<36} {:>16}   {}\n", text.label, text.value,
                       terminal.paint(Colour::Dim, text.name));
    }
    printLines(terminal, profile, texts);
    if (!profile.hazards.empty())
        fmt::print("\n{}\n", terminal.paint(Colour::Bold, "Hazards"));
    for (const engine::Hazard& hazard : profile.hazards)
        printHazard(terminal, hazard, profile.launch, snapshot, texts, shownName);
    for (const std::string& note : profile.notes)
        fmt::print("\n{}\n", terminal.paint(Colour::Dim, note));
}

Result<engine::KernelReport> profileOn(const std::string& executor, const Snapshot& snapshot,
                                       const analysis::KernelModel& kernel,
                                       const std::stop_token& stop) {
    return executor == "emulator"
               ? snapshot.workbench->profiler().profile({snapshot.program, kernel}, stop, {})
               : snapshot.workbench->profiler().profileOnGpu({snapshot.program, kernel}, stop, {});
}

/// A row a kernel, with the part of the roofline that it reaches.
void printOverview(const std::vector<ProfiledKernel>& kernels) {
    const Terminal terminal(stdout);
    std::size_t widest = 6;
    for (const ProfiledKernel& profiled : kernels)
        widest = std::max(widest, profiled.kernel->qualifiedName.size());
    fmt::print("{}\n", terminal.paint(Colour::Dim, fmt::format("{:<{}}  {:>24}  {:>8}  {:>8}  {}",
                                                               "kernel", widest, "time", "of roof",
                                                               "of DRAM", "bottleneck")));
    for (const ProfiledKernel& profiled : kernels) {
        const std::string& name = profiled.kernel->qualifiedName;
        if (!profiled.report) {
            fmt::print("{:<{}}  {}\n", name, widest,
                       terminal.paint(Colour::Red, profiled.report.error().describe()));
            continue;
        }
        const engine::KernelReport& report = *profiled.report;
        const auto percent = [&](double value) { return fmt::format("{:.0f} %", value); };
        const std::string time = timeText(report);
        fmt::print("{:<{}}  {:>24}  {:>8}  {:>8}  {}\n", name, widest, time,
                   report.measured ? percent(report.measured->percent()) : "",
                   report.measured ? percent(report.measured->memoryPercent) : "",
                   terminal.paint(Colour::Yellow, spelling(report.bottleneck->kind)));
    }
    fmt::print("\n{}\n", terminal.paint(Colour::Dim, "choose one with --kernel for its numbers"));
}

/// {file, kernels}; an entry is a kernel's profile, or {kernel, error}.
nlohmann::json overviewJson(const std::vector<ProfiledKernel>& kernels, const std::string& file) {
    auto entries = nlohmann::json::array();
    for (const ProfiledKernel& profiled : kernels) {
        if (profiled.report) {
            entries.push_back(profileJson(*profiled.report));
            continue;
        }
        entries.push_back(errorJson(profiled.report.error()));
        entries.back()["kernel"] = profiled.kernel->qualifiedName;
    }
    return {{"file", file}, {"kernels", std::move(entries)}};
}

/// Profiles `wanted` one after another; one that fails takes nothing from the others.
std::vector<ProfiledKernel> profileAll(const ProfileArguments& arguments, const Snapshot& snapshot,
                                       const std::vector<const analysis::KernelModel*>& wanted,
                                       const std::stop_token& stop) {
    std::vector<ProfiledKernel> profiled;
    for (const analysis::KernelModel* kernel : wanted) {
        if (wanted.size() > 1)
            fmt::print(stderr, "{} of {}: {}\n", profiled.size() + 1, wanted.size(),
                       kernel->qualifiedName);
        profiled.push_back({kernel, profileOn(arguments.executor, snapshot, *kernel, stop)});
    }
    return profiled;
}

/// Prints each profile beside the one of its kernel in `sides`, or beside the only one where
/// `isPair`. A kernel that is not there is named on standard error.
int compareProfiles(const std::vector<ProfiledKernel>& profiled,
                    const std::vector<ProfileSide>& sides, bool isPair,
                    const Invocation& invocation) {
    nlohmann::json comparisons = nlohmann::json::array();
    std::size_t compared = 0;
    for (const ProfiledKernel& each : profiled) {
        if (!each.report) {
            fmt::print(stderr, "{}: {}\n", each.kernel->qualifiedName,
                       each.report.error().describe());
            continue;
        }
        const ProfileSide* other =
            isPair ? &sides.front() : sideNamed(sides, each.kernel->qualifiedName);
        if (other == nullptr) {
            fmt::print(stderr, "{} is not in what it is compared with\n",
                       each.kernel->qualifiedName);
            continue;
        }
        const ProfileSide own = sideOf(*each.report, "now");
        const ProfileSide& before = isPair ? own : *other;
        const ProfileSide& after = isPair ? *other : own;
        if (invocation.json)
            comparisons.push_back(comparisonJson(before, after));
        else
            fmt::print("{}", compared > 0 ? "\n" : "");
        if (!invocation.json)
            printComparison(before, after);
        ++compared;
    }
    if (invocation.json)
        printJson({{"comparisons", std::move(comparisons)}});
    return compared > 0 ? exitDone : exitNothingFound;
}

/// The profiles that the arguments ask to compare with; empty if they ask for none.
Result<std::vector<ProfileSide>> comparandsOf(const ProfileArguments& arguments,
                                              const Snapshot& snapshot,
                                              const std::stop_token& stop) {
    if (!arguments.baseline.empty())
        return readProfiles(arguments.baseline);
    if (!arguments.imported.empty())
        return importProfiles(arguments.imported, stop);
    if (arguments.against.empty())
        return std::vector<ProfileSide>{};
    const auto other = chooseKernel(snapshot, arguments.against);
    if (!other)
        return std::unexpected(other.error());
    const auto report = profileOn(arguments.executor, snapshot, **other, stop);
    if (!report)
        return std::unexpected(report.error());
    return std::vector{sideOf(*report, "now")};
}

int runImport(const ProfileArguments& arguments, const Invocation& invocation) {
    const Interruption interruption;
    auto sides = importProfiles(arguments.imported, interruption.token());
    if (!sides)
        return reportError(sides.error(), invocation);
    if (!arguments.kernel.empty())
        std::erase_if(*sides, [&](const ProfileSide& side) {
            return sideNamed({side}, arguments.kernel) == nullptr;
        });
    if (invocation.json)
        printJson(importedJson(*sides));
    else
        printImported(*sides);
    return sides->empty() ? exitNothingFound : exitDone;
}

/// Explains which arguments exclude each other; empty if they may be given together.
std::string contradictionIn(const ProfileArguments& arguments) {
    const int comparands =
        !arguments.baseline.empty() + !arguments.against.empty() + !arguments.imported.empty();
    if (comparands > 1)
        return "only one of --baseline, --against and --import can be given";
    if (arguments.file.empty() && !(arguments.baseline.empty() && arguments.against.empty()))
        return "--baseline and --against are for the kernels of a FILE";
    if (!arguments.against.empty() && arguments.kernel.empty())
        return "--against needs --kernel, which names the first of the two kernels";
    return {};
}

/// Checks the options that make sense for a whole program, and reads --on.
int runProgramProfile(ProfileArguments& arguments, const Invocation& invocation) {
    if (!arguments.report.empty())
        return reportError({ErrorKind::InvalidInput, "--report is for the kernels of a FILE",
                            "profile", "use --json for a whole program"},
                           invocation);
    arguments.program.kernel = arguments.kernel;
    arguments.program.executor = arguments.executorGiven;
    return profileProgram(arguments.program, invocation);
}

int runProfile(ProfileArguments& arguments, const Invocation& invocation) {
    if (const std::string problem = contradictionIn(arguments); !problem.empty())
        return reportError({ErrorKind::InvalidInput, problem, "profile", ""}, invocation);
    if (arguments.file.empty() && !arguments.imported.empty())
        return runImport(arguments, invocation);
    if (arguments.file.empty())
        return runProgramProfile(arguments, invocation);
    if (!arguments.program.program.empty())
        return reportError({ErrorKind::InvalidInput, "both a file and a program are given",
                            arguments.file, "name one of them"},
                           invocation);
    if (!arguments.executorGiven.empty())
        arguments.executor = arguments.executorGiven;
    const Interruption interruption;
    // A runner takes as long to start as the file to parse.
    std::future<Result<void>> runner;
    const auto startRunner = [&](const std::shared_ptr<const engine::Workbench>& workbench) {
        if (arguments.executor == "emulator")
            return;
        const auto say = [](std::string_view what, double) { fmt::print(stderr, "{}\n", what); };
        runner = std::async(std::launch::async, [&interruption, workbench, say]() -> Result<void> {
            if (const auto gpu = workbench->machines().gpu(interruption.token(), say); !gpu)
                return std::unexpected(gpu.error());
            return {};
        });
    };
    const auto snapshot =
        openInput(arguments.file, optionsOn(arguments.executor, invocation.options), startRunner);
    if (!snapshot)
        return reportError(snapshot.error(), invocation);
    const auto kernel = chooseKernel(**snapshot, arguments.kernel);
    if (!kernel)
        return reportError(kernel.error(), invocation);
    std::vector<const analysis::KernelModel*> wanted;
    const bool wantsAll = arguments.kernel.empty();
    if (wantsAll) {
        for (const analysis::KernelModel& each : (*snapshot)->model().kernels)
            wanted.push_back(&each);
    } else {
        wanted.push_back(*kernel);
    }
    if (runner.valid()) {
        if (const auto ready = runner.get(); !ready)
            return reportError(ready.error(), invocation);
    }
    const auto comparands = comparandsOf(arguments, **snapshot, interruption.token());
    if (!comparands)
        return reportError(comparands.error(), invocation);
    auto profiled = profileAll(arguments, **snapshot, wanted, interruption.token());
    sortByTime(profiled);
    const auto& first = profiled.front().report;
    if (profiled.size() == 1 && !first)
        return reportError(first.error(), invocation);
    if (!comparands->empty())
        return compareProfiles(profiled, *comparands, !arguments.against.empty(), invocation);
    if (invocation.json)
        printJson(wantsAll ? overviewJson(profiled, arguments.file) : profileJson(*first));
    else if (profiled.size() == 1)
        printReport(*first, **snapshot, arguments.file);
    else
        printOverview(profiled);
    const bool hasAny = std::ranges::any_of(
        profiled, [](const ProfiledKernel& each) { return each.report.has_value(); });
    if (arguments.report.empty() || !hasAny)
        return hasAny ? exitDone : exitNothingFound;
    Report report = profileReport(**snapshot, std::move(profiled), arguments.file);
    report.footer =
        reportFooter("kernelskill profile " + arguments.file + " --on " + arguments.executor);
    if (const auto written = replaceFile(arguments.report, writeReport(report)); !written)
        return reportError(written.error(), invocation);
    fmt::print(stderr, "written to {}\n", arguments.report);
    return exitDone;
}

} // namespace

void addProfileCommand(CliCommand& program, Invocation& invocation) {
    CliCommand& command = program.add(
        "profile", "Run kernels of a file, or a whole program, and say where the time goes");
    command.footer("\nExamples:\n"
                   "  kernelskill profile transpose.cu\n"
                   "  kernelskill profile kernels.cu --kernel softmax --json\n"
                   "  kernelskill profile transpose.cu --on gpu\n"
                   "  kernelskill profile transpose.cu --on slurm --partition gpus\n"
                   "  kernelskill profile transpose.cu --report transpose.html\n"
                   "  kernelskill profile transpose.cu --json > before.json\n"
                   "  kernelskill profile transpose.cu --baseline before.json\n"
                   "  kernelskill profile sums.cu --kernel rowSums --against columnSums\n"
                   "  kernelskill profile --import run.ncu-rep\n"
                   "  kernelskill profile -- ./program arguments\n"
                   "  kernelskill profile --program small --no-details\n"
                   "\nGrid, block and arguments come from the launch in the file if it can be "
                   "evaluated, else they are\n"
                   "guessed from names. A comment pins them:\n"
                   "  // kernelskill: launch saxpy<<<(n+255)/256, 256>>>(n=1<<20, x=rand[n])");
    addJsonFlag(command, invocation);
    const auto arguments = std::make_shared<ProfileArguments>();
    command.option(&arguments->file,
                   {.name = "FILE", .help = "The CUDA file; none: the program behind `--`"});
    command.option(&arguments->kernel, {.name = "--kernel",
                                        .placeholder = "NAME",
                                        .help = "The kernel; all, in a table, by default",
                                        .check = missingName});
    addExecutorOptions(command, invocation, arguments->executorGiven, {"emulator", "gpu", "slurm"});
    command.option(&arguments->program.program,
                   {.name = "--program",
                    .placeholder = "NAME",
                    .help = "Build and run this program of the workspace (`program detect`)",
                    .group = "Of a whole program",
                    .check = missingName});
    command.flag(arguments->program.noDetails,
                 {.name = "--no-details",
                  .help = "Times alone: no kernel is captured and profiled",
                  .group = "Of a whole program"});
    command.option(&arguments->program.maxKernels, {.name = "--kernels",
                                                    .placeholder = "N",
                                                    .help = "Max number of kernels to list (20)",
                                                    .group = "Of a whole program"});
    command.option(&arguments->report,
                   {.name = "--report",
                    .placeholder = "OUT.html",
                    .help = "Write the profile and its roofline as one self-contained HTML page"});
    command.option(&arguments->baseline,
                   {.name = "--baseline",
                    .placeholder = "FILE.json",
                    .help = "Show what differs from this profile, which --json wrote",
                    .group = "Compare"});
    command.option(&arguments->against,
                   {.name = "--against",
                    .placeholder = "NAME",
                    .help = "Show what differs from --kernel to this kernel of the file",
                    .group = "Compare",
                    .check = missingName});
    command.option(&arguments->imported,
                   {.name = "--import",
                    .placeholder = "FILE.ncu-rep",
                    .help = "Show a report of Nsight Compute, or with FILE what differs from it "
                            "(needs ncu)",
                    .group = "Compare"});
    command.whenChosen([&invocation, arguments] {
        invocation.run = [&invocation, arguments] { return runProfile(*arguments, invocation); };
    });
}

} // namespace kernelskill::lsp
