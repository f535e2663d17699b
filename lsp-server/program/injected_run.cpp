#include "lsp-server/program/injected_run.h"

#include "analysis/source/try.h"
#include "engine/final_memory/final_memory.h"
#include "engine/storage/temporary_folder.h"
#include "lsp-server/program/injection.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;

/// Adds the program's own failure to an error that may follow from it.
Error withStatus(Error error, int status) {
    if (status != 0)
        error.what += fmt::format("; the program ended with status {}", status);
    return error;
}

/// Whether the recorder was loaded into a process of the program.
bool wasAttached(const fs::path& incoming) {
    std::error_code error;
    for (fs::directory_iterator at(incoming, error), end; !error && at != end; at.increment(error))
        if (at->path().filename().string().starts_with(engine::attachedPrefix))
            return true;
    return false;
}

Result<engine::TemporaryFolder> temporaryFolder(const char* name) {
    std::error_code error;
    auto folder = engine::TemporaryFolder::make(fs::temp_directory_path(error), name);
    if (!folder)
        return std::unexpected(Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
    return std::move(*folder);
}

Result<engine::TemporaryFolder> incomingFolder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    auto incoming = engine::TemporaryFolder::make(folder, "incoming");
    if (error || !incoming)
        return std::unexpected(Error{ErrorKind::Failed, "captures cannot be written",
                                     folder.string(), "look at the folder's permissions"});
    return std::move(*incoming);
}

} // namespace

ProgramStart inBackground(const engine::Workload& workload, const std::stop_token& stop,
                          const engine::OutputSink& onOutput) {
    return [workload, stop, onOutput](const auto& added) -> Result<int> {
        engine::Workload injected = workload;
        injected.check.clear();
        injected.pattern.clear();
        injected.environment.insert(injected.environment.end(), added.begin(), added.end());
        engine::WorkloadRunOptions options;
        options.builds = false;
        options.onOutput = onOutput;
        KERNELSKILL_TRY(const auto done, engine::runWorkload(injected, options, stop));
        return done.run->status;
    };
}

Result<RecordedDurations> recordDurations(const Options& options, const ProgramStart& start) {
    KERNELSKILL_TRY(const auto recorder, injectedLibrary("libkernelskill-durations.so"));
    KERNELSKILL_TRY(const auto folder, temporaryFolder("kernelskill-durations"));
    engine::DurationTarget target;
    target.file = (folder.path() / "durations").string();
    target.cupti = cuptiFor(options);
    RecordedDurations result;
    KERNELSKILL_TRY(result.status,
                    start({{injectionVariable, recorder.string()},
                           {engine::durationVariable, engine::formatDurationTarget(target)}}));
    auto durations = engine::readDurations(target.file);
    if (!durations)
        return std::unexpected(withStatus(std::move(durations.error()), result.status));
    if (durations->bySymbol.empty())
        return std::unexpected(
            withStatus({ErrorKind::Missing,
                        durations->problem.empty() ? "no launch was measured" : durations->problem,
                        {},
                        {}},
                       result.status));
    result.durations = std::move(*durations);
    return result;
}

Result<std::vector<std::pair<std::string, std::string>>> bufferRecording(const fs::path& folder,
                                                                         const Options& options) {
    KERNELSKILL_TRY(const auto recorder, injectedLibrary("libkernelskill-final-memory.so"));
    engine::FinalMemoryTarget target;
    target.folder = folder.string();
    target.cupti = cuptiFor(options);
    return {{{injectionVariable, recorder.string()},
             {engine::finalMemoryVariable, engine::formatFinalMemoryTarget(target)}}};
}

Result<RecordedTimeline> recordTimeline(const Options& options, const ProgramStart& start) {
    KERNELSKILL_TRY(const auto recorder, injectedLibrary("libkernelskill-timeline.so"));
    KERNELSKILL_TRY(const auto folder, temporaryFolder("kernelskill-timeline"));
    const auto path = folder.path() / "activities";
    RecordedTimeline result;
    KERNELSKILL_TRY(result.status, start({{injectionVariable, recorder.string()},
                                          {engine::activityFileVariable, path.string()},
                                          {engine::cuptiVariable, cuptiFor(options)}}));
    auto file = engine::readActivities(path);
    if (!file)
        return std::unexpected(withStatus(std::move(file.error()), result.status));
    if (!file->problem.empty())
        return std::unexpected(withStatus(
            {ErrorKind::Missing, file->problem, {}, "run `kernelskill doctor`"}, result.status));
    result.file = std::move(*file);
    return result;
}

Result<RecordedCaptures> recordCaptures(const fs::path& folder, engine::Recording wanted,
                                        const Options& options, const ProgramStart& start) {
    KERNELSKILL_TRY(const auto recorder, injectedLibrary("libkernelskill-capture.so"));
    KERNELSKILL_TRY(const auto incoming, incomingFolder(folder));
    wanted.folder = incoming.path().string();
    wanted.cupti = cuptiFor(options);
    RecordedCaptures result;
    KERNELSKILL_TRY(result.status,
                    start({{injectionVariable, recorder.string()},
                           {engine::recordingVariable, engine::formatRecording(wanted)}}));
    result.isAttached = wasAttached(incoming.path());
    KERNELSKILL_TRY(result.captures, engine::adoptCaptures(folder, incoming.path()));
    return result;
}

} // namespace kernelskill::lsp
