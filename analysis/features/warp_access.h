/// One access as a warp makes it: the addresses of 32 lanes, simulated.
#pragma once

#include "analysis/features/features.h"

#include <optional>

namespace kernelskill::analysis {

/// The block's size as far as the launches agree on it; 0 where they do not or it is not constant.
struct BlockShape {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t z = 0;
};

[[nodiscard]] AccessFeatures describeAccess(const KernelModel& kernel, std::uint32_t access,
                                            BlockShape block);

} // namespace kernelskill::analysis
