/// Writes the complete host function that copies arrays to the GPU, launches generated kernels and
/// copies the results back. launch_statement_writer.h writes its launch statements.
#pragma once

#include "engine/generate/kernel_writer.h"

#include <string>

namespace kernelskill::engine {

/// `written` contains the kernels. The host function has the parameters of `function`. It returns
/// the first error of the CUDA runtime, and the result of `function` through a further parameter.
/// If the file has a macro for CUDA errors, it checks every call with that macro instead.
/// Statements of `function` before, between and after the loops are copied. Arrays go to the GPU
/// once before the first loop and back once after the last one. Every return frees the device
/// memory.
[[nodiscard]] std::string writeHostFunction(const analysis::FileModel& file,
                                            const analysis::KernelModel& function,
                                            const ParallelFunction& parallel,
                                            const WrittenFunction& written,
                                            const DerivedNames& names);

} // namespace kernelskill::engine
