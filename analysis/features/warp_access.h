/// Simulates one access of a warp: the addresses of its 32 lanes.
#pragma once

#include "analysis/features/features.h"

#include <optional>
#include <vector>

namespace kernelskill::analysis {

/// The block's size on which all launches agree; 0 on an axis where they differ or are not
/// constant.
struct BlockShape {
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::int64_t z = 0;
};

/// The variables of a function that are set again after their declaration.
class ReassignedVariables {
public:
    explicit ReassignedVariables(const FunctionBody& body);
    [[nodiscard]] bool contains(VariableId variable) const { return isReassigned_.at(variable); }

private:
    std::vector<bool> isReassigned_;
};

/// `reassigned` is of the kernel's body.
[[nodiscard]] AccessFeatures describeAccess(const KernelModel& kernel,
                                            const ReassignedVariables& reassigned,
                                            std::uint32_t access, BlockShape block);

/// The parameter that is the distance of neighbouring lanes at the access and may be any, also 1:
/// nothing tells that it is the length of a row, neither a comparison nor a walk along the row.
[[nodiscard]] std::optional<VariableId> openStride(const KernelModel& kernel,
                                                   const MemoryAccess& access);

} // namespace kernelskill::analysis
