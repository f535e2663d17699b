/// Workloads of a makefile.
#pragma once

#include "engine/program/workload.h"

namespace kernelskill::engine {

/// The target `run` of the folder's makefile; without one, the programs that its rules link from
/// CUDA sources. Reads the file; runs nothing.
[[nodiscard]] FoundWorkloads makeWorkloads(const std::filesystem::path& folder);

} // namespace kernelskill::engine
