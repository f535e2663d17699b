/// Workloads of a CMake project.
#pragma once

#include "engine/program/workload.h"

namespace kernelskill::engine {

/// Tests, which have arguments, then executables, those with CUDA sources first: from what CMake's
/// File API has written in the newest build folder, else from the text of CMakeLists.txt. The
/// build is `cmake --build`, after `cmake -S -B` where there is no build folder yet. Reads files;
/// runs nothing.
[[nodiscard]] FoundWorkloads cmakeWorkloads(const std::filesystem::path& folder);

} // namespace kernelskill::engine
