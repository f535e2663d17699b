/// Builds, runs and checks a user's program, with the user's rights and environment: for workloads
/// that the user trusts alone.
#pragma once

#include "analysis/source/error.h"
#include "engine/process/child_process.h"
#include "engine/program/workload.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct WorkloadStep {
    std::vector<std::string> command;
    int status = 0; ///< Exit status, or 128 + signal.
    double seconds = 0;
};

struct WorkloadRun {
    std::optional<WorkloadStep> build; ///< nullopt: there is none, or it was not asked for.
    std::optional<WorkloadStep> run;   ///< nullopt: the build failed, or only that was asked for.
    std::optional<WorkloadStep> check; ///< nullopt: there is none, or the run failed.
    std::string output;                ///< The program's standard output, cut at 4 MB.
    std::optional<Error> failure;      ///< The failure, with its step; nullopt: all steps passed.
};

struct WorkloadRunOptions {
    bool builds = true;
    bool runs = true; ///< Whether anything comes after the build.
    /// Called before each step: "build", "run" or "check", and its command.
    std::function<void(std::string_view step, const std::vector<std::string>& command)> onStep = {};
    OutputSink onOutput = {};
    std::chrono::milliseconds time = std::chrono::hours(1); ///< The time limit of each step.
};

/// Blocks. A step that ends with another status than 0, or a pattern that no line of the output
/// matches, is a failure of the run. Errors: InvalidInput for a pattern that cannot be read or a
/// folder that is not there, Missing for a program that cannot be started, Failed for a step that
/// takes longer than its time, Cancelled on `stop`.
[[nodiscard]] Result<WorkloadRun>
runWorkload(const Workload& workload, const WorkloadRunOptions& options, std::stop_token stop);

} // namespace kernelskill::engine
