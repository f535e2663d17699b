/// Profiles a program of the workspace in the background: for editors.
#pragma once

#include "engine/program/workload.h"
#include "engine/whole_program/run_comparison.h"
#include "engine/workbench/workbench.h"
#include "lsp-server/program/kernel_shares.h"
#include "lsp-server/program/program_profiling.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

struct ProfiledProgram {
    engine::Workload workload;
    std::filesystem::path root; ///< Its workspace's; the report's files are from there.
    ProgramProfileReport report;
    std::vector<engine::LaunchTimes> runs;                                       ///< At least one.
    std::map<std::filesystem::path, std::shared_ptr<const KernelShares>> shares; ///< By files.
    /// The changes of kernels since the program's last profile; empty if there was none.
    std::vector<engine::KernelTimeChange> changes;
    std::string output; ///< The end of what the build and the runs printed.
};

/// The limits of a program's runs: it runs `least` times, and then until a comparison of its times
/// is as sure as it can be, unless it has run `most` times or for `time`.
struct RunLimits {
    std::size_t least = 1;
    std::size_t most = 1;
    std::chrono::seconds time{0};
};
/// More runs than this never make a comparison surer.
inline constexpr std::size_t mostRuns = engine::minRounds;

struct ProgramProfileRequest {
    engine::Workload workload;
    std::filesystem::path root;
    Options options;
    CapturedKernels::Reader reader; ///< Reads files of the workspace, with the workbench.
    std::shared_ptr<const engine::Workbench> workbench;
    std::shared_ptr<const ProfiledProgram> before; ///< The last profile; null: none.
    bool builds = true;
    bool withDetails = true; ///< Whether what holds hot kernels back is asked for, in a second run.
    std::string kernel;      ///< The details of this kernel alone; empty: of all hot ones.
    RunLimits runs;          ///< The runs without details.
};

/// Builds the program, runs it with the recorder of times, and if details are wanted with that of
/// captures. Problems with details alone are part of the result. Errors: those of a build and of
/// runs, with the end of the output in `remedy`; Missing without a GPU or CUPTI; Failed if the
/// program ran no kernel; InvalidInput if it ran none of the name that was given; Cancelled on
/// `stop`.
[[nodiscard]] Result<ProfiledProgram> profileInBackground(const ProgramProfileRequest& request,
                                                          const std::stop_token& stop,
                                                          const engine::ProgressSink& say);

/// As programProfileJson(), with {name, summary, table, lines, changes, output}, and `uri` in each
/// kernel. `table` is programProfileTable() of all kernels, the head first, and `lines` is the same
/// as aligned text. `changes` is null if there was no profile before.
[[nodiscard]] nlohmann::json profiledProgramJson(const ProfiledProgram& profiled);

/// "columns: 2 kernels: 1 faster, 1 same; scale: 2.00 times as fast, 41 µs to 20 µs", or, without
/// an earlier profile, "columns: 2 kernels, columnSums takes 94 % of GPU time": one line.
[[nodiscard]] std::string profiledProgramSummary(const ProfiledProgram& profiled);

/// The table of the longest kernels, what is known of the devices, and what has changed: lines for
/// a message.
[[nodiscard]] std::string profiledProgramText(const ProfiledProgram& profiled);

} // namespace kernelskill::lsp
