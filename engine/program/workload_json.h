/// Workloads as JSON: the setting `kernelskill.program`, and what commands print.
#pragma once

#include "analysis/source/error.h"
#include "engine/program/workload.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::engine {

/// Reads `{NAME: {command, folder, environment, build, check, pattern}}`. Commands are texts or
/// lists of words; `folder` is taken from `root`. An entry that cannot be used becomes a note.
[[nodiscard]] FoundWorkloads readWorkloads(const nlohmann::json& section,
                                           const std::filesystem::path& root,
                                           const std::string& origin);

/// {name, command, folder, environment, build, check, pattern, origin}; commands are lists of
/// words.
[[nodiscard]] nlohmann::json workloadJson(const Workload& workload);

} // namespace kernelskill::engine
