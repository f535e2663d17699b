/// Finds the programs of a workspace from the files that build and launch them.
#pragma once

#include "engine/program/workload.h"

namespace kernelskill::engine {

/// Reads launch.json and tasks.json of VS Code, makefiles and CMake projects in the folders, in
/// this order; runs nothing. Names are made unique; what an earlier file says of a command is kept.
[[nodiscard]] FoundWorkloads searchWorkloads(const std::vector<std::filesystem::path>& folders);

} // namespace kernelskill::engine
