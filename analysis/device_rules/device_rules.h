/// Finds errors that nvcc, ptxas or the driver report for files that libclang accepts.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"

#include <vector>

namespace kernelskill::analysis {

/// Findings in the main file, with the origin Device. A finding is an error if nvcc or its linker
/// fails; it is a warning if the file compiles and then fails or behaves differently. Rules that
/// depend on the GPU apply only if the command names an architecture; rules that depend on flags
/// apply only if the command was not inferred. In a file with other errors only names are checked,
/// because its model is incomplete.
[[nodiscard]] std::vector<Diagnostic> deviceFindings(const FileModel& model,
                                                     const CompileCommand& command);

/// Adds the findings to the model's diagnostics, replacing libclang's own messages about the same
/// names.
void addDeviceFindings(FileModel& model, const CompileCommand& command);

/// `__shfl_down_sync` for a warp function from before CUDA 9; empty for other names.
[[nodiscard]] std::string_view successorOfWarpFunction(std::string_view name);

/// Limits of a block on every current GPU.
inline constexpr std::int64_t maxThreadsPerBlock = 1024;
inline constexpr std::uint64_t maxStaticSharedBytes = 49'152;

/// The bytes of the kernel's own static shared arrays that it reads.
[[nodiscard]] std::uint64_t staticSharedBytes(const KernelModel& kernel);

} // namespace kernelskill::analysis
