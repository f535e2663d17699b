/// Atomics that lanes of a warp make on elements that data choose.
#pragma once

#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// `atomicAdd(&totals[key], value);`, a statement of its own.
struct KeyedAtomic {
    analysis::StmtId statement = analysis::noId;
    analysis::ExprId address = analysis::noId; ///< `&totals[key]`
    analysis::ExprId index = analysis::noId;   ///< `key`
    analysis::ExprId value = analysis::noId;
    std::string array;
    std::string function;  ///< "atomicAdd"
    std::string operation; ///< The functor of cooperative_groups: "plus".
    std::string type;      ///< The type of a value of an element.
    analysis::ScalarKind scalar = analysis::ScalarKind::Float;
};

/// Finds the atomic at the cursor, else the first that fits. Refuses with `no-atomic`, or why the
/// first atomic does not fit: `from-macro`, `result-used`, `already-combined`, `no-operation`,
/// `no-key`, `own-base`, `not-global`, `known-target`, `one-thread-updates`.
[[nodiscard]] Gated<KeyedAtomic> keyedAtomic(const SkillContext& context);

/// Returns the edits after which the lanes with one key fold their values, and one of them updates
/// the element.
[[nodiscard]] std::vector<analysis::TextEdit> aggregate(const SkillContext& context,
                                                        const KeyedAtomic& atomic);

} // namespace kernelskill::skills
