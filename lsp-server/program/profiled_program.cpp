#include "lsp-server/program/profiled_program.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/capture/kernel_symbol.h"
#include "engine/program/command_words.h"
#include "engine/storage/temporary_folder.h"
#include "lsp-server/program/output_end.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/report/time_change_report.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <system_error>
#include <utility>

namespace kernelskill::lsp {

namespace fs = std::filesystem;
using engine::KernelShare;
using nlohmann::json;

namespace {

constexpr std::size_t maxMessageRows = 8; // of the table

class Profiling {
public:
    Profiling(const ProgramProfileRequest& request, const std::stop_token& stop,
              const engine::ProgressSink& say)
        : request_(request), stop_(stop), say_(say), begun_(fs::file_time_type::clock::now()) {}

    Result<ProfiledProgram> run() {
        ProfiledProgram result;
        result.workload = request_.workload;
        result.root = request_.root;
        KERNELSKILL_TRY(const auto folder, placeInWorkspace(result.workload, result.root));
        if (request_.builds)
            if (auto built = build(result.workload); !built)
                return std::unexpected(output_.explained(std::move(built.error())));
        const auto built = request_.builds && !result.workload.build.empty()
                               ? begun_
                               : fs::file_time_type::clock::now();
        KERNELSKILL_TRY(const auto tree, engine::listTree(result.root, stop_));
        const engine::KernelPlaces places(tree, stop_);
        KERNELSKILL_CHECK(recordRuns(result, places, folder));
        if (!request_.kernel.empty() &&
            wantedKernels(result.report.profile, request_.kernel).empty())
            return std::unexpected(Error{ErrorKind::InvalidInput,
                                         fmt::format("the program ran no kernel '{}' of this "
                                                     "workspace",
                                                     request_.kernel),
                                         result.root.string(), "without `kernel` all are listed"});
        result.shares =
            kernelSharesOf(result.report.profile, result.workload.name, result.root, built);
        if (request_.before)
            result.changes = engine::compareRuns(request_.before->runs, result.runs);
        if (request_.withDetails && result.report.status == 0)
            addDetails(result);
        if (stop_.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "stopped", {}, {}});
        result.output = output_.text();
        return result;
    }

private:
    [[nodiscard]] engine::OutputSink sink() {
        return [this](int, std::string_view text) { output_.add(text); };
    }

    Result<void> build(const engine::Workload& workload) {
        engine::WorkloadRunOptions options;
        options.onStep = [this](std::string_view step, const std::vector<std::string>& command) {
            say_(fmt::format("{}: {}", step, engine::commandText(command)), 0);
        };
        options.onOutput = sink();
        return buildWorkload(workload, std::move(options), stop_);
    }

    Result<void> recordRuns(ProfiledProgram& result, const engine::KernelPlaces& places,
                            const fs::path& folder) {
        const auto start = inBackground(result.workload, stop_, sink());
        const auto begin = std::chrono::steady_clock::now();
        do {
            say_(fmt::format("run: {}", engine::commandText(result.workload.command)), 0.1);
            const auto recorded = recordTimeline(request_.options, start);
            if (!recorded)
                return std::unexpected(output_.explained(recorded.error()));
            result.report = reportOf(result.workload, *recorded, places, folder);
            if (result.report.profile.kernels.empty())
                return std::unexpected(output_.explained(
                    {ErrorKind::Failed,
                     fmt::format("the program ran no kernel; it ended with status {}",
                                 recorded->status),
                     engine::commandText(result.workload.command), "look at its arguments"}));
            result.runs.push_back(engine::launchTimesOf(recorded->file.activities));
        } while (result.report.status == 0 &&
                 wantsMore(result.runs, std::chrono::steady_clock::now() - begin));
        return {};
    }

    [[nodiscard]] bool wantsMore(const std::vector<engine::LaunchTimes>& runs,
                                 std::chrono::steady_clock::duration spent) const {
        const RunLimits& limits = request_.runs;
        return runs.size() < limits.least ||
               (runs.size() < limits.most && spent < limits.time && !engine::isEnough(runs));
    }

    /// Fills in the details of hot kernels. If none can be had, each kernel gets the error.
    void addDetails(ProfiledProgram& result) {
        const auto wanted = wantedKernels(result.report.profile, request_.kernel);
        if (wanted.empty())
            return;
        if (auto found = findAll(result, wanted); !found)
            for (const std::size_t at : wanted)
                result.report.details[at] = std::unexpected(found.error());
    }

    Result<void> findAll(ProfiledProgram& result, const std::vector<std::size_t>& wanted) {
        std::error_code error;
        const auto folder =
            engine::TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-profile");
        if (!folder)
            return std::unexpected(
                Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
        const fs::path captures = folder->path() / "captures";
        say_("run: again, to capture launches", 0.3);
        KERNELSKILL_TRY(const auto recorded,
                        captureWanted(result.report, wanted, captures, request_.options,
                                      inBackground(result.workload, stop_, sink())));
        const bool measures = request_.workbench->machines().gpu(stop_).has_value();
        if (measures) {
            say_("run: once more, kernels one by one", 0.4);
            // Without them the profile lacks a column, and nothing else.
            static_cast<void>(findDurations(result.report, request_.options,
                                            inBackground(result.workload, stop_, sink())));
        }
        CapturedKernels kernels(request_.workbench, result.root, captures, request_.reader);
        std::size_t done = 0;
        findDetails(result.report, wanted, kernels, recorded.captures,
                    {measures, stop_, [&](const KernelShare& kernel) {
                         const double part =
                             static_cast<double>(done++) / static_cast<double>(wanted.size());
                         say_("profiling " + kernel.place->qualifiedName, 0.4 + 0.6 * part);
                     }});
        return {};
    }

    const ProgramProfileRequest& request_;
    const std::stop_token& stop_;
    const engine::ProgressSink& say_;
    fs::file_time_type begun_;
    OutputEnd output_;
};

} // namespace

Result<ProfiledProgram> profileInBackground(const ProgramProfileRequest& request,
                                            const std::stop_token& stop,
                                            const engine::ProgressSink& say) {
    return Profiling(request, stop, say).run();
}

json profiledProgramJson(const ProfiledProgram& profiled) {
    json document = programProfileJson(profiled.report);
    const auto& kernels = profiled.report.profile.kernels;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        json& kernel = document.at("kernels").at(i);
        kernel["uri"] = kernels[i].place ? json(uriFromPath(profiled.root / kernels[i].place->file))
                                         : json(nullptr);
    }
    const auto table = programProfileTable(profiled.report, kernels.size());
    document["name"] = profiled.workload.name;
    document["summary"] = profiledProgramSummary(profiled);
    document["lines"] = alignedRows(table);
    document["table"] = table;
    document["changes"] =
        profiled.changes.empty() ? json(nullptr) : timeChangesJson(profiled.changes);
    document["output"] = profiled.output;
    return document;
}

std::string profiledProgramSummary(const ProfiledProgram& profiled) {
    const std::string& name = profiled.workload.name;
    if (!profiled.changes.empty())
        return fmt::format("{}: {}", name, timeChangesText(profiled.changes));
    const auto& kernels = profiled.report.profile.kernels;
    const KernelShare& longest = kernels.front();
    return fmt::format("{}: {} kernel{}, {} takes {:.0f} % of GPU time", name, kernels.size(),
                       kernels.size() == 1 ? "" : "s",
                       engine::kernelSymbol(longest.times.symbol).qualifiedName,
                       100 * longest.share);
}

std::string profiledProgramText(const ProfiledProgram& profiled) {
    std::string text = profiled.workload.name;
    if (profiled.report.status != 0)
        text += fmt::format(" ended with status {}", profiled.report.status);
    for (const std::string& line :
         alignedRows(programProfileTable(profiled.report, maxMessageRows)))
        text += "\n" + line;
    for (const engine::DeviceTimes& device : profiled.report.profile.devices)
        text += "\n" + deviceText(device);
    if (!profiled.changes.empty())
        text += "\n" + timeChangesText(profiled.changes);
    return text;
}

} // namespace kernelskill::lsp
