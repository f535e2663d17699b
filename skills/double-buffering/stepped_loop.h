/// Finds loops that work out a shared array's next state in a second one and copy it back.
#pragma once

#include "skills/base/skill.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// `for (...) { ... next[own] = f(now[...]); barrier; now[own] = next[own]; barrier; }`
struct SteppedLoop {
    analysis::StmtId loop = analysis::noId;
    analysis::VariableId now = analysis::noId;
    analysis::VariableId next = analysis::noId;
    analysis::StmtId barrier = analysis::noId; ///< Between the work and the copy.
    analysis::StmtId copy = analysis::noId;    ///< With the condition around it.
    analysis::StmtId lastBarrier = analysis::noId;
    std::string own;    ///< A thread's element: "[ty][tx]".
    std::string unless; ///< True for threads that keep their element; empty: no thread does.
    std::vector<analysis::ExprId> nowUses; ///< In the loop, the copy excepted, and behind it.
    std::vector<analysis::ExprId> nextUses;
};

/// The loop at the cursor, else the first that fits. Refuses with `no-loop`, `no-copied-state`,
/// `in-a-loop`, `other-memory`, `part-of-array`, `partly-written`, `partly-filled`,
/// `may-end-early` or `used-behind`.
[[nodiscard]] Gated<SteppedLoop> findSteppedLoop(const SkillContext& context);

} // namespace kernelskill::skills
