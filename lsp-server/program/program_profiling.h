/// The steps of profiling a whole program, which the command line and the server put together.
#pragma once

#include "engine/program/workload_run.h"
#include "lsp-server/program/captured_kernels.h"
#include "lsp-server/program/injected_run.h"
#include "lsp-server/report/program_profile_report.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Follows links in the workload's folder, and returns the folder from the root of its workspace.
/// InvalidInput if it lies outside of it: a link may lead there.
[[nodiscard]] Result<std::filesystem::path> placeInWorkspace(engine::Workload& workload,
                                                             const std::filesystem::path& root);

/// Builds the workload if it has a build command. Errors: those of runWorkload(), and Failed if the
/// build ends with another status than 0. `options` say who hears of it.
[[nodiscard]] Result<void> buildWorkload(const engine::Workload& workload,
                                         engine::WorkloadRunOptions options,
                                         const std::stop_token& stop);

/// The times of a run, without details. `folder` is the workload's, from the root that `places` are
/// of.
[[nodiscard]] ProgramProfileReport reportOf(const engine::Workload& workload,
                                            const RecordedTimeline& recorded,
                                            const engine::KernelPlaces& places,
                                            const std::filesystem::path& folder);

/// Indices of the kernels whose details are wanted: those of this name; with an empty name, hot
/// ones. Only kernels that the workspace defines.
[[nodiscard]] std::vector<std::size_t> wantedKernels(const engine::ProgramProfile& profile,
                                                     const std::string& name);

/// Runs the program again and captures the first launch of each of these kernels into `folder`.
[[nodiscard]] Result<RecordedCaptures> captureWanted(const ProgramProfileReport& report,
                                                     const std::vector<std::size_t>& wanted,
                                                     const std::filesystem::path& folder,
                                                     const Options& options,
                                                     const ProgramStart& start);

/// Runs the program again so that its kernels run one by one, and fills in how long each takes
/// alone. Returns why some of its launches were not measured; empty if all were. Errors as of
/// recordDurations().
[[nodiscard]] Result<std::string> findDurations(ProgramProfileReport& report,
                                                const Options& options, const ProgramStart& start);

struct DetailsRun {
    bool onGpu = false; ///< Whether kernels are measured on a GPU; else the emulator runs them.
    std::stop_token stop;
    std::function<void(const engine::KernelShare& kernel)> onKernel; ///< Called before each.
};

/// Fills in the details of these kernels, each with its own error if it has one, at the launches
/// that were captured.
void findDetails(ProgramProfileReport& report, const std::vector<std::size_t>& wanted,
                 CapturedKernels& kernels, const engine::StoredCaptures& captures,
                 const DetailsRun& run);

} // namespace kernelskill::lsp
