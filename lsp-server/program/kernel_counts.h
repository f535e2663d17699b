/// Counts what kernels do on the emulator, to compare it with a baseline.
#pragma once

#include "engine/program/workload.h"
#include "engine/regression/baseline.h"
#include "lsp-server/configuration/options.h"
#include "lsp-server/documents/snapshot.h"
#include "lsp-server/program/captured_kernels.h"

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// Runs the kernel on the emulator. A kernel that cannot be run has a failure. `gpu` is the one
/// that the cost model is for. The kernel's file is left empty.
[[nodiscard]] engine::CountedKernel countsOf(const Snapshot& snapshot,
                                             const analysis::KernelModel& kernel,
                                             const std::string& gpu, const std::stop_token& stop);

/// Adds a kernel. Another one of its file and name, which an overload has, gets a number.
void addCounted(engine::Baseline& counts, engine::CountedKernel kernel);

/// The path in a baseline: from the baseline's folder, so that another checkout has the same.
[[nodiscard]] std::string pathFrom(const std::filesystem::path& folder,
                                   const std::filesystem::path& path);

struct ProgramCountsRequest {
    engine::Workload workload;    ///< It is built.
    std::filesystem::path root;   ///< Its workspace's.
    std::filesystem::path folder; ///< The workload's folder, from the root.
    Options options;
    std::shared_ptr<const engine::Workbench> workbench;
    CapturedKernels::Reader reader; ///< Reads files of the workspace, with the workbench.
    std::filesystem::path paths;    ///< The folder that paths of kernels are from.
    std::string tool;               ///< This version.
};

struct ProgramCounts {
    engine::Baseline counts;
    /// Whether the kernels ran at launches that the program made. Else those of its executable ran
    /// as `kernelskill profile FILE` runs them.
    bool areCaptured = false;
    std::string why;                ///< Why they are not; empty if they are.
    std::vector<std::string> notes; ///< Captures that cannot be used.
};

/// Runs the program to capture the first launch of each of its kernels, and these on the emulator.
/// If nothing is captured, as on a machine without a GPU, the kernels whose names are in the
/// program's executable are taken from the workspace. Errors: Missing if the program cannot be
/// started; Failed if it ends with another status than 0 although it launched kernels, with the end
/// of its output, or if no kernel of the workspace is found; Cancelled.
[[nodiscard]] Result<ProgramCounts> countProgram(const ProgramCountsRequest& request,
                                                 const std::stop_token& stop);

} // namespace kernelskill::lsp
