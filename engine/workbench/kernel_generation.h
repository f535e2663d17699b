/// Generates a first kernel from a host function of a file.
#pragma once

#include "engine/generate/generator.h"
#include "engine/generate/host_function_reference.h"
#include "engine/workbench/machines.h"

#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// The host functions that overlap `range` and from which a kernel can be generated. Cheap.
[[nodiscard]] std::vector<KernelOffer> kernelOffers(const analysis::FileModel& file,
                                                    analysis::Span range);

/// Generates the kernel, see Generator. `function` is one of FileModel::loopFunctions. Missing if
/// there is no host compiler to run kernels with.
[[nodiscard]] Result<GeneratedKernel> generateKernel(const Machines& machines, KernelRef function,
                                                     std::stop_token stop,
                                                     const ProgressSink& progress);

} // namespace kernelskill::engine
