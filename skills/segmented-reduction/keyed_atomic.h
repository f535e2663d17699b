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
    std::string operation; ///< Of cooperative_groups: "plus"
    std::string type;      ///< Of an element, as a value.
    analysis::ScalarKind scalar = analysis::ScalarKind::Float;
};

/// The one at the cursor, else the first that fits. Refuses with the gate of the first atomic:
/// `no-atomic`, `from-macro`, `result-used`, `already-combined`, `no-operation`, `no-key`,
/// `own-base`, `not-global`, `known-target`, `one-thread-updates`.
[[nodiscard]] Gated<KeyedAtomic> keyedAtomic(const SkillContext& context);

/// The lanes with one key fold their values first, and one of them updates the element.
[[nodiscard]] std::vector<analysis::TextEdit> aggregate(const SkillContext& context,
                                                        const KeyedAtomic& atomic);

} // namespace kernelskill::skills
