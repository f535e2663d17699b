/// Writes the host function that runs generated kernels on arrays of the host.
#pragma once

#include "engine/generate/kernel_writer.h"

#include <string>

namespace kernelskill::engine {

/// `written` has the kernels. It has the parameters of `function`, and either returns the first
/// error of the runtime, and what the function returns through a further parameter, or, where the
/// file has a macro for errors, checks every call by it. What the host does before, between and
/// behind the loops it does as the function has it; arrays go to the GPU once before the first loop
/// and come back once behind the last. Device memory is freed on every way out that returns.
[[nodiscard]] std::string writeHostFunction(const analysis::FileModel& file,
                                            const analysis::KernelModel& function,
                                            const ParallelFunction& parallel,
                                            const WrittenFunction& written,
                                            const DerivedNames& names);

} // namespace kernelskill::engine
