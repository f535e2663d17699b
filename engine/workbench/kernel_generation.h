/// A first kernel from a host function of a file.
#pragma once

#include "engine/generate/generator.h"
#include "engine/generate/host_function_reference.h"
#include "engine/workbench/machines.h"

#include <stop_token>
#include <vector>

namespace kernelskill::engine {

/// Host functions that touch `range` and from which a kernel can be generated. Cheap.
[[nodiscard]] std::vector<KernelOffer> kernelOffers(const analysis::FileModel& file,
                                                    analysis::Span range);

/// See Generator. `function` is one of `program`'s FileModel::loopFunctions. Missing when there is
/// nothing to run kernels with.
[[nodiscard]] Result<GeneratedKernel> generateKernel(const Machines& machines, KernelRef function,
                                                     std::stop_token stop,
                                                     const ProgressSink& progress);

} // namespace kernelskill::engine
