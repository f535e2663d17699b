/// How a kernel uses its integer parameters: which other values of one keep the work within the
/// launch.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace kernelskill::engine {

struct ScalarUse {
    /// Compared with positions in the grid, as n in `i < n`. A larger value may ask for more than
    /// the launch has threads for.
    bool boundsGrid = false;
    /// The same for positions in a block, outside of loops.
    bool boundsBlock = false;
    /// A condition compares a position with the parameter itself: the kernel expects it to be less
    /// than there are threads.
    bool isGuard = false;
    /// A loop counts up to it.
    bool boundsLoop = false;
    /// The condition of a loop depends on it, by any computation.
    bool limitsLoop = false;
    /// The integers that it is compared with or switched on, without 0 and 1. Ascending.
    std::set<std::int64_t> compared = {};

    /// Whether the launch has threads enough for larger values too.
    [[nodiscard]] bool canGrow() const { return !boundsGrid && !boundsBlock; }
};

/// By the parameters' names. Follows parameters and positions through variables, and not into
/// functions: what is passed along with a position counts as compared with it.
[[nodiscard]] std::map<std::string, ScalarUse> scalarUses(const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
