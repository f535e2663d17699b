/// Launches with other integers in the objects of classes that a kernel takes by value.
#pragma once

#include "engine/inputs/launch_inference.h"

#include <vector>

namespace kernelskill::engine {

/// `launch`, of `subject`, with other values of the integers in its class arguments, smaller ones
/// where they may be extents of a grid or image, which are multiples of a block where they are
/// guessed. Empty if there are none.
[[nodiscard]] std::vector<LaunchSpec> otherClassNumbers(KernelInFile subject,
                                                        const LaunchSpec& launch);

} // namespace kernelskill::engine
