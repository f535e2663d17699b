/// Finds loads in a loop whose address depends on the same load in the previous iteration, as in `i
/// = next[i]` or a binary search. Such loads cannot overlap.
#pragma once

#include "analysis/model/kernel_model.h"

#include <vector>

namespace kernelskill::engine {

struct DependentLoad {
    analysis::ExprId access = analysis::noId;       ///< The load's expression.
    analysis::VariableId variable = analysis::noId; ///< The variable that its address depends on.
    std::uint32_t loop = analysis::noId;            ///< Index into KernelModel::loops.
};

/// The loads from global memory. Each load appears once, with its innermost such loop. A chain
/// through memory itself (`a[i] = f(a[i - 1])`) is not found.
[[nodiscard]] std::vector<DependentLoad> dependentLoads(const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
