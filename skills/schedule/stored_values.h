/// The stores right before a loop in which a block works on shared arrays, whose values can stay in
/// registers.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A tree or a scan.
struct ArrayLoop {
    analysis::StmtId loop = analysis::noId;
    /// The arrays in shared memory that it works on; each thread has one element of each.
    std::vector<analysis::VariableId> arrays;
    std::string thread; ///< The subscript of a thread's own element, as the kernel spells it.
    /// The loop's own variables, whose declarations may stand before it.
    std::vector<analysis::VariableId> own;
    /// Each round begins with a barrier, so that the loop needs none before it.
    bool startsWithBarrier = false;
};

struct StoredValue {
    analysis::StmtId store = analysis::noId; ///< `partial[tid] = ...;`
    /// The local that is stored, if it has the element's type and is not used again; else noId.
    analysis::VariableId local = analysis::noId;
};

struct StoredValues {
    std::vector<StoredValue> values; ///< In the order of ArrayLoop::arrays.
    /// The barrier between these and the loop; noId if there is none.
    analysis::StmtId barrier = analysis::noId;
};

/// Returns the stores of each thread's own elements, if nothing but a barrier stands between them
/// and the loop, and no thread may still read the arrays: then a warp's result may be written
/// where they were. nullopt otherwise.
[[nodiscard]] std::optional<StoredValues> storedValues(const SkillContext& context,
                                                       const ArrayLoop& loop);

/// Returns the edits that turn stores of values into declarations of registers with these names, in
/// the order of the values, and remove the barrier behind them.
[[nodiscard]] std::vector<analysis::TextEdit>
keptInRegisters(const SkillContext& context, const StoredValues& stored,
                const std::vector<std::string>& names);

} // namespace kernelskill::skills
