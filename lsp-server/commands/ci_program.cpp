#include "lsp-server/commands/ci_program.h"

#include "analysis/source/files.h"
#include "analysis/source/json.h"
#include "analysis/source/program_search.h"
#include "analysis/source/try.h"
#include "engine/capture/kernel_symbol.h"
#include "engine/graph/choice/visible_gpu.h"
#include "engine/program/command_words.h"
#include "engine/whole_program/program_baseline.h"
#include "lsp-server/commands/chosen_program.h"
#include "lsp-server/commands/executor_option.h"
#include "lsp-server/commands/input_file.h"
#include "lsp-server/commands/interruption.h"
#include "lsp-server/program/kernel_counts.h"
#include "lsp-server/program/output_end.h"
#include "lsp-server/program/profiled_program.h"
#include "lsp-server/version.h"
#include "lsp-server/workspace/skill_folders.h"
#include "lsp-server/workspace/workspace.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;
using engine::ProgramBaseline;
using engine::TimedRuns;
using nlohmann::json;

/// Five runs of one version are all slower than five of another, equally fast one once in 252
/// times.
constexpr std::size_t leastRuns = 5;
constexpr std::chrono::seconds timeForMore{60};

void say(std::string_view what) {
    fmt::print(stderr, "{}\n", what);
}

/// The GPU that the program sees first; unknown without nvidia-smi.
engine::TimedGpu gpuOf(const engine::Workload& workload, const std::stop_token& stop) {
    auto visible = engine::graph::visibleDevices();
    for (const auto& [name, value] : workload.environment)
        if (name == "CUDA_VISIBLE_DEVICES")
            visible = value;
    const auto smi = analysis::findProgram("nvidia-smi");
    if (!smi)
        return {};
    const auto gpu = engine::graph::visibleGpu(*smi, visible, stop);
    return gpu ? engine::TimedGpu{gpu->name, gpu->driver, gpu->smMegahertz} : engine::TimedGpu{};
}

/// The times of a program, and where its kernels are.
struct FoundTimes {
    TimedRuns timed;
    KernelFiles files;
};

/// The answer, and the baseline that --update writes.
struct ProgramAnswer {
    RegressionReport report;
    json document;
    ProgramBaseline baseline;
};

class ProgramCi {
public:
    ProgramCi(const CiArguments& arguments, const Invocation& invocation, ProgramBaseline before,
              std::stop_token stop)
        : arguments_(arguments), invocation_(invocation), before_(std::move(before)),
          stop_(std::move(stop)),
          paths_(analysis::canonicalPath(arguments.baselineFile().parent_path())) {}

    Result<ProgramAnswer> run() {
        KERNELSKILL_TRY(program_, chosenProgram(arguments_.program, invocation_));
        program_.place.root = analysis::canonicalPath(program_.place.root);
        identity_ = {program_.workload.command, pathFrom(paths_, program_.workload.folder),
                     program_.workload.environment};
        std::ranges::sort(identity_.environment);
        if (!before_.program.command.empty())
            difference_ = engine::differenceBetween(before_.program, identity_);
        KERNELSKILL_CHECK(buildInTerminal(program_.workload, stop_));
        if (arguments_.executor == "emulator")
            return compareCounts({});
        const auto found = findTimes();
        if (found)
            return compareTimes(*found);
        // Counts need less than times. What they need as well, such as the program, is missing
        // again.
        if (found.error().kind != ErrorKind::Missing || !arguments_.executor.empty())
            return std::unexpected(found.error());
        say(fmt::format("no times: {}", found.error().what));
        return compareCounts(found.error().what);
    }

private:
    [[nodiscard]] std::string commandText() const {
        return engine::commandText(program_.workload.command);
    }

    /// Runs the program as often as a comparison needs.
    Result<FoundTimes> findTimes() const {
        ProgramProfileRequest request;
        request.workload = program_.workload;
        request.root = program_.place.root;
        request.options = invocation_.options;
        request.builds = false;
        request.withDetails = false;
        const auto runs = static_cast<std::size_t>(arguments_.runs);
        request.runs =
            runs > 0 ? RunLimits{runs, runs, {}} : RunLimits{leastRuns, mostRuns, timeForMore};
        KERNELSKILL_TRY(
            auto profiled,
            profileInBackground(request, stop_, [](std::string_view what, double) { say(what); }));
        OutputEnd output;
        output.add(profiled.output);
        if (profiled.report.status != 0)
            return std::unexpected(output.explained(
                {ErrorKind::Failed,
                 fmt::format("the program ended with status {}", profiled.report.status),
                 commandText(), "look at its arguments"}));
        if (profiled.report.dropped > 0)
            return std::unexpected(Error{ErrorKind::Failed,
                                         fmt::format("CUPTI dropped {} records: launches are "
                                                     "missing in the times",
                                                     profiled.report.dropped),
                                         commandText(), "let the program launch less"});
        FoundTimes found{{gpuOf(program_.workload, stop_), std::move(profiled.runs)}, {}};
        for (const engine::KernelShare& kernel : profiled.report.profile.kernels)
            if (kernel.place)
                found.files.emplace(engine::kernelSymbol(kernel.times.symbol).qualifiedName,
                                    pathFrom(paths_, program_.place.root / kernel.place->file));
        return found;
    }

    Result<ProgramAnswer> compareTimes(const FoundTimes& found) const {
        if (!before_.times && !arguments_.update)
            return std::unexpected(Error{ErrorKind::Missing, "the baseline has no times",
                                         arguments_.baseline,
                                         "--update adds them; --on emulator compares counts"});
        // Without earlier runs all kernels are new.
        const TimedRuns before =
            before_.times.value_or(TimedRuns{found.timed.gpu, std::vector<engine::LaunchTimes>(1)});
        auto comparison = engine::compareTimes(before, found.timed);
        if (!difference_.empty())
            comparison.obstacle = difference_;
        ProgramAnswer answer{timeReport(comparison, found.files),
                             timesJson(comparison, found.files), kept()};
        const std::size_t runs = found.timed.runs.size();
        const std::string& gpu = found.timed.gpu.name;
        answer.report.compared = fmt::format("times of {} run{} on {}", runs, runs == 1 ? "" : "s",
                                             gpu.empty() ? "a GPU that is not known" : gpu);
        if (before_.times)
            answer.report.compared +=
                fmt::format(", with those of {} before", before_.times->runs.size());
        answer.document["compared"] = "times";
        answer.document["gpu"] = gpu.empty() ? json(nullptr) : json(gpu);
        answer.document["runs"] = runs;
        answer.baseline.times = found.timed;
        complete(answer);
        return answer;
    }

    /// `whyNoTimes`: empty if counts are asked for.
    Result<ProgramAnswer> compareCounts(const std::string& whyNoTimes) const {
        if (!before_.counts && !arguments_.update)
            return std::unexpected(
                Error{ErrorKind::Missing,
                      "the baseline has no counts" +
                          (whyNoTimes.empty() ? "" : ", and there are no times: " + whyNoTimes),
                      arguments_.baseline, "--update adds them"});
        KERNELSKILL_TRY(const auto found, findCounts());
        const engine::Baseline before =
            before_.counts.value_or(engine::Baseline{version, found.counts.gpu, {}});
        auto changes = engine::compareWithBaseline(before, found.counts, {arguments_.tolerance});
        if (!difference_.empty())
            for (engine::CountedKernelChange& change : changes)
                change = {change.file,
                          change.kernel,
                          engine::CountChange::NotComparable,
                          {},
                          difference_};
        ProgramAnswer answer{countReport(changes), countsJson(changes), kept()};
        answer.report.compared =
            found.areCaptured ? "counts of the emulator at launches of the program, not times"
                              : "counts of the emulator at launches as in the sources, not times";
        if (!whyNoTimes.empty())
            answer.report.notes.push_back("no times: " + whyNoTimes);
        if (!found.why.empty())
            answer.report.notes.push_back(
                fmt::format("the kernels are those in the program's executable: {}", found.why));
        answer.report.notes.insert(answer.report.notes.end(), found.notes.begin(),
                                   found.notes.end());
        answer.document["compared"] = "counts";
        answer.document["captured"] = found.areCaptured;
        answer.baseline.counts = found.counts;
        complete(answer);
        return answer;
    }

    Result<ProgramCounts> findCounts() const {
        const fs::path& root = program_.place.root;
        Options options = optionsOn("emulator", invocation_.options);
        if (!invocation_.namesGpu && before_.counts)
            options.gpu = before_.counts->gpu;
        KERNELSKILL_TRY(auto workbench, makeWorkbench(options, skillFoldersOfCommand(root)));
        ProgramCountsRequest request{program_.workload,
                                     root,
                                     program_.folder,
                                     options,
                                     workbench,
                                     readerOfProgram(workbench, root, options),
                                     paths_,
                                     version};
        say(fmt::format("run: {}, to capture launches", commandText()));
        return countProgram(request, stop_);
    }

    /// The baseline's other part stays if it is of the same program.
    [[nodiscard]] ProgramBaseline kept() const {
        ProgramBaseline baseline = difference_.empty() ? before_ : ProgramBaseline{};
        baseline.program = identity_;
        return baseline;
    }

    void complete(ProgramAnswer& answer) const {
        answer.report.subject = commandText();
        answer.document["program"] = program_.workload.command;
        answer.document["notes"] = answer.report.notes;
    }

    const CiArguments& arguments_;
    const Invocation& invocation_;
    ProgramBaseline before_;
    std::stop_token stop_;
    fs::path paths_; ///< The folder that paths in the baseline are from.
    ChosenProgram program_;
    engine::BaselineProgram identity_;
    std::string difference_; ///< Why the baseline is of another program; empty if it is not.
};

} // namespace

int runProgramCi(const CiArguments& arguments, const Invocation& invocation) {
    const Interruption interruption; // Before there are threads: they take its mask over.
    auto before = engine::readProgramBaseline(arguments.baselineFile());
    // --update writes a new baseline where there is none, or none that can be read.
    if (!before && !arguments.update)
        return failCi(before.error(), invocation);
    const auto answer =
        ProgramCi(arguments, invocation, before.value_or(ProgramBaseline{}), interruption.token())
            .run();
    if (!answer)
        return failCi(answer.error(), invocation);
    return finishCi(arguments, invocation, answer->report, answer->document,
                    engine::programBaselineText(answer->baseline));
}

} // namespace kernelskill::lsp
