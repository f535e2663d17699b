/// A user's programs and their runs, as JSON and as text.
#pragma once

#include "engine/program/workload_run.h"
#include "engine/program/workspace_programs.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kernelskill::lsp {

/// {programs: [{name, command, folder, environment, build, check, pattern, origin}], picked, notes}
[[nodiscard]] nlohmann::json programsJson(const engine::WorkspacePrograms& programs);

/// {program, passed, build, run, check: {command, status, seconds}, failure: {kind, what, where,
/// remedy}}; a step that did not run, and a failure that did not happen, are null.
[[nodiscard]] nlohmann::json workloadRunJson(const engine::Workload& workload,
                                             const engine::WorkloadRun& run);

/// "small: ./saxpy 1024, in /home/me/saxpy"
[[nodiscard]] std::string workloadTitle(const engine::Workload& workload);

/// "small passed: build 1.20 s, run 0.31 s", or "small failed: the run ended with status 1 ..."
[[nodiscard]] std::string workloadRunText(const engine::Workload& workload,
                                          const engine::WorkloadRun& run);

} // namespace kernelskill::lsp
