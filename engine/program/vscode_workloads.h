/// Workloads of VS Code's launch.json and tasks.json.
#pragma once

#include "engine/program/workload.h"

namespace kernelskill::engine {

/// The configurations that launch a program (cuda-gdb, cppdbg, lldb, Python) with the task before
/// them as the build, then tasks of the group "test" or whose name begins with "run". Reads
/// `.vscode/`; runs nothing. A note says which configuration needs what only VS Code knows.
[[nodiscard]] FoundWorkloads vscodeWorkloads(const std::filesystem::path& folder);

} // namespace kernelskill::engine
