/// Writes the host function that runs a generated kernel on arrays of the host.
#pragma once

#include "engine/agents/generate/kernel_writer.h"

#include <string>

namespace kernelskill::engine {

/// `names` says what kernel and launcher are called. It has the parameters of `function`, and
/// either returns the first error of the runtime or, where the file has a macro for that, checks
/// every call by it. Device memory is freed on every way out that returns.
[[nodiscard]] std::string writeLauncher(const analysis::FileModel& file,
                                        const analysis::KernelModel& function,
                                        const ParallelNest& nest, const WrittenKernel& names);

} // namespace kernelskill::engine
