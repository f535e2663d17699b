/// Simulates one access of a warp: the addresses of its 32 lanes.
#pragma once

#include "analysis/features/features.h"

#include <optional>

namespace kernelskill::analysis {

/// The block's size on which all launches agree; 0 on an axis where they differ or are not
/// constant.
struct BlockShape {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t z = 0;
};

[[nodiscard]] AccessFeatures describeAccess(const KernelModel& kernel, std::uint32_t access,
                                            BlockShape block);

} // namespace kernelskill::analysis
