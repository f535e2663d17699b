/// The numbers that the memory of a held program has.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/replay/replay_wire.h"

#include <string>
#include <vector>

namespace kernelskill::engine {

/// The numbers behind a pointer that the kernel takes, as an instantiation of it with these
/// arguments has them. Bytes for integers and for what is not known.
[[nodiscard]] MemoryElement memoryElementOf(const analysis::KernelModel& kernel,
                                            const analysis::Parameter& parameter,
                                            const std::vector<std::string>& templateArguments);

} // namespace kernelskill::engine
