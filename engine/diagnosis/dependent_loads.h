/// Loads of a loop whose address comes out of the load of the round before, as in `i = next[i]` or
/// a binary search: they cannot be in flight together.
#pragma once

#include "analysis/model/kernel_model.h"

#include <vector>

namespace kernelskill::engine {

struct DependentLoad {
    analysis::ExprId access = analysis::noId;       ///< The load's expression.
    analysis::VariableId variable = analysis::noId; ///< That its address is made of.
    std::uint32_t loop = analysis::noId;            ///< Index into KernelModel::loops.
};

/// Of global memory, each load once, in its innermost such loop. A chain through memory itself
/// (`a[i] = f(a[i - 1])`) is not seen.
[[nodiscard]] std::vector<DependentLoad> dependentLoads(const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
