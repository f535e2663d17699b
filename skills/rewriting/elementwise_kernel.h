/// Recognises the kernel that every CUDA course starts with: one flat index, one bounds check, one
/// element a thread.
#pragma once

#include "skills/rewriting/code_map.h"
#include "skills/skill.h"

#include <expected>
#include <vector>

namespace kernelskill::skills {

enum class ElementwiseForm : std::uint8_t {
    GuardedBlock, ///< `if (i < n) { work }`, the last statement
    EarlyReturn,  ///< `if (i >= n) return; work`
};

/// `int i = blockIdx.x * blockDim.x + threadIdx.x;` and its guard.
struct ElementwiseKernel {
    ElementwiseForm form = ElementwiseForm::GuardedBlock;
    analysis::VariableId index = analysis::noId;
    analysis::StmtId declaration = analysis::noId; ///< Of the index alone.
    analysis::StmtId guard = analysis::noId;
    analysis::ExprId limit = analysis::noId; ///< The same for all threads.
    std::vector<analysis::StmtId> work;      ///< Statements per element, in order.
};

/// Refuses with the first thing that is different: `two-dimensional`, `no-flat-index`,
/// `no-bounds-guard`, `compound-guard`, `index-used-outside-guard`, `work-after-guard`, `barrier`,
/// `warp-operation`, `shared-memory`, `early-exit`, `uses-thread-position`,
/// `writes-outer-variable`, `inline-assembly`, `work-before-guard`.
[[nodiscard]] std::expected<ElementwiseKernel, Refusal>
recogniseElementwise(const SkillContext& context, const CodeMap& code);

/// `for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < limit; i += blockDim.x * gridDim.x)`
struct GridStrideLoop {
    std::uint32_t loop = analysis::noId; ///< Index into KernelModel::loops.
    analysis::VariableId index = analysis::noId;
    analysis::ExprId limit = analysis::noId;
};

/// The grid-stride loops of the kernel, in the order of the source.
[[nodiscard]] std::vector<GridStrideLoop> findGridStrideLoops(const analysis::KernelModel& kernel,
                                                              const CodeMap& code);

/// Gates on the work alone, also for the body of a grid-stride loop.
[[nodiscard]] std::expected<void, Refusal>
requireIndependentWork(const SkillContext& context, const CodeMap& code,
                       const std::vector<analysis::StmtId>& work);

} // namespace kernelskill::skills
