/// Writes the statements that launch a nest's kernels, inside the host function of
/// host_function_writer.h.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/kernel_writer.h"
#include "engine/generate/launcher_names.h"
#include "skills/editing/code_lines.h"

namespace kernelskill::engine {

/// Adds the launch configuration and the launch of the kernel, or of both kernels of a reduction.
/// The caller adds the check of the runtime's status.
void addLaunch(skills::CodeLines& lines, const analysis::KernelModel& function,
               const analysis::CodeMap& code, const ParallelFunction& parallel,
               const ParallelNest& nest, const WrittenKernel& kernel, LauncherNames& names);

} // namespace kernelskill::engine
