/// Runs of a CUDA program with one of our recorders in it.
#pragma once

#include "engine/capture/capture_store.h"
#include "engine/capture/recording.h"
#include "engine/launch_durations/launch_durations.h"
#include "engine/program/workload_run.h"
#include "engine/timeline/activity_file.h"
#include "lsp-server/configuration/options.h"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::lsp {

/// Runs the program with these variables added to its environment. Returns its exit status, or
/// 128 + signal.
using ProgramStart =
    std::function<Result<int>(const std::vector<std::pair<std::string, std::string>>& added)>;

/// Runs the workload without its build and its check, as a child whose output goes to `onOutput`.
[[nodiscard]] ProgramStart inBackground(const engine::Workload& workload,
                                        const std::stop_token& stop,
                                        const engine::OutputSink& onOutput = {});

struct RecordedTimeline {
    int status = 0; ///< The program's.
    engine::ActivityFile file;
};

struct RecordedDurations {
    int status = 0; ///< The program's.
    engine::LaunchDurations durations;
};

/// Runs the program so that its kernels run one by one, and measures them. Errors: those of
/// `start`; Missing if there is no recorder, or it measured nothing.
[[nodiscard]] Result<RecordedDurations> recordDurations(const Options& options,
                                                        const ProgramStart& start);

/// Returns the variables with which a run records its buffers on the GPU into the folder. Errors as
/// of injectedLibrary().
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>>
bufferRecording(const std::filesystem::path& folder, const Options& options);

/// Errors: those of `start`; Missing if there is no recorder, or it saw no CUDA driver or could not
/// record, with the program's status if it failed.
[[nodiscard]] Result<RecordedTimeline> recordTimeline(const Options& options,
                                                      const ProgramStart& start);

struct RecordedCaptures {
    int status = 0;          ///< The program's.
    bool isAttached = false; ///< Whether the recorder was loaded into a process of the program.
    engine::StoredCaptures
        captures; ///< The launches that were added; empty if nothing was captured.
};

/// Captures into the store `folder`. `wanted.folder` and `wanted.cupti` are set here. Errors: those
/// of `start`; Missing if there is no recorder; Failed if the folder cannot be written.
[[nodiscard]] Result<RecordedCaptures> recordCaptures(const std::filesystem::path& folder,
                                                      engine::Recording wanted,
                                                      const Options& options,
                                                      const ProgramStart& start);

} // namespace kernelskill::lsp
