/// Writes the launch of a nest's kernels.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/kernel_writer.h"
#include "engine/generate/launcher_names.h"
#include "skills/editing/code_lines.h"

namespace kernelskill::engine {

/// Its configuration, and the call of the kernel, or of both of a reduction. What the runtime says
/// of them is left to be asked for.
void addLaunch(skills::CodeLines& lines, const analysis::KernelModel& function,
               const analysis::CodeMap& code, const ParallelFunction& parallel,
               const ParallelNest& nest, const WrittenKernel& kernel, LauncherNames& names);

} // namespace kernelskill::engine
