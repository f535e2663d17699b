/// Recognises the kernel that every CUDA course starts with: one flat index, one bounds check, one
/// element a thread.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <expected>
#include <vector>

namespace kernelskill::skills {

enum class ElementwiseForm : std::uint8_t {
    GuardedBlock, ///< `if (i < n) { work }`, the last statement
    EarlyReturn,  ///< `if (i >= n) return; work`
};

/// How a kernel may number its threads.
enum class FlatIndex : std::uint8_t {
    Plain, ///< blockIdx.x * blockDim.x + threadIdx.x
    /// Also `(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x`, and either with a
    /// constant that all blocks have as their width: for edits that keep blocks and number more
    /// elements than threads.
    Numbered,
};

/// `int i = blockIdx.x * blockDim.x + threadIdx.x;` and its guard.
struct ElementwiseKernel {
    ElementwiseForm form = ElementwiseForm::GuardedBlock;
    analysis::VariableId index = analysis::noId;
    analysis::StmtId declaration = analysis::noId; ///< The declaration of the index alone.
    analysis::StmtId guard = analysis::noId;
    analysis::ExprId limit = analysis::noId; ///< The same for all threads.
    std::vector<analysis::StmtId> work;      ///< Statements per element, in order.
};

/// Refuses with the first thing that is different: `two-dimensional`, `no-flat-index`,
/// `no-bounds-guard`, `compound-guard`, `index-used-outside-guard`, `work-after-guard`, `barrier`,
/// `warp-operation`, `shared-memory`, `early-exit`, `uses-thread-position`,
/// `writes-outer-variable`, `inline-assembly`, `work-before-guard`.
[[nodiscard]] Gated<ElementwiseKernel> recogniseElementwise(const SkillContext& context,
                                                            const analysis::CodeMap& code,
                                                            FlatIndex allowed = FlatIndex::Plain);

/// Whether the work may ask which thread or block does it: where an edit keeps that, or has seen to
/// it.
enum class WorkPosition : std::uint8_t { Unknown, Seen };

/// Gates on the work alone, also for the body of a grid-stride loop.
[[nodiscard]] Gated<void> requireIndependentWork(const SkillContext& context,
                                                 const analysis::CodeMap& code,
                                                 const std::vector<analysis::StmtId>& work,
                                                 WorkPosition position = WorkPosition::Unknown);

} // namespace kernelskill::skills
