/// Bounds checks, and loops over the data in steps of the whole grid.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::analysis {

/// `variable < limit` in any of its spellings; `whenTrue` tells if the condition is that or its
/// negation. Casts belong to the limit's text; the variable has only such as change no comparison.
struct BoundsCheck {
    VariableId variable = noId;
    ExprId limit = noId;
    bool whenTrue = true;
};

/// nullopt where the condition is another one.
[[nodiscard]] std::optional<BoundsCheck> boundsCheck(const CodeMap& code, ExprId condition);

/// `for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < limit; i += blockDim.x * gridDim.x)`
struct GridStrideLoop {
    std::uint32_t loop = noId; ///< Index into KernelModel::loops.
    VariableId index = noId;
    ExprId limit = noId;
};

/// The grid-stride loops of the kernel, in the order of the source.
[[nodiscard]] std::vector<GridStrideLoop> findGridStrideLoops(const KernelModel& kernel,
                                                              const CodeMap& code);

} // namespace kernelskill::analysis
