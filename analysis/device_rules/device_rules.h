/// What nvcc, ptxas or the driver refuse of a file that libclang accepts.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/model/kernel_model.h"

#include <vector>

namespace kernelskill::analysis {

/// About the main file, of origin Device; an error where nvcc or its linker ends with one, a
/// warning where it compiles and then fails or does not do what is written. What depends on the
/// GPU is said only for an architecture that the command names, what depends on flags only for a
/// command that somebody wrote. A file with other errors is judged by its names alone: its model
/// is not whole.
[[nodiscard]] std::vector<Diagnostic> deviceFindings(const FileModel& model,
                                                     const CompileCommand& command);

/// Adds them to the model's diagnostics, in place of what libclang made of the same names.
void addDeviceFindings(FileModel& model, const CompileCommand& command);

/// `__shfl_down_sync` for a warp function of before CUDA 9; empty for any other name.
[[nodiscard]] std::string_view successorOfWarpFunction(std::string_view name);

/// Limits of a block on every GPU of today.
inline constexpr std::int64_t maxThreadsPerBlock = 1024;
inline constexpr std::uint64_t maxStaticSharedBytes = 49'152;

/// Bytes of the kernel's own static shared arrays that it reads.
[[nodiscard]] std::uint64_t staticSharedBytes(const KernelModel& kernel);

} // namespace kernelskill::analysis
