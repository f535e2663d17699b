/// The stores right before a tree, whose values can stay in registers.
#pragma once

#include "skills/gates/tree_reduction.h"

#include <optional>
#include <vector>

namespace kernelskill::skills {

struct StoredValue {
    analysis::StmtId store = analysis::noId; ///< `partial[tid] = ...;`
    /// The local of the element's type that is stored and not asked for again; noId if the value is
    /// another.
    analysis::VariableId local = analysis::noId;
};

struct StoredValues {
    std::vector<StoredValue> values; ///< In the order of TreeReduction::arrays.
    /// The barrier between these and the tree; noId if there is none.
    analysis::StmtId barrier = analysis::noId;
};

/// Returns the stores of each thread's own elements, if nothing but a barrier stands between them
/// and the tree, and no thread may still read the arrays: then a warp's result may be written
/// where they were. nullopt otherwise.
[[nodiscard]] std::optional<StoredValues>
storedValues(const SkillContext& context, const analysis::CodeMap& code, const TreeReduction& tree);

} // namespace kernelskill::skills
