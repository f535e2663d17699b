/// Finds atomics by which threads reserve places in a common array: `at = atomicAdd(&size, 1)`.
#pragma once

#include "skills/base/skill.h"
#include "skills/editing/early_return.h"
#include "skills/gates/block_collective.h"
#include "skills/gates/contended_updates.h"
#include "skills/gates/update_gates.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// A local that is declared before the atomic and used in CounterPush::behind, which moves out of
/// its block.
struct KeptLocal {
    analysis::StmtId declaration = analysis::noId;
    std::vector<std::string> hoisted; ///< "float v = 0.0f;", one for each variable.
    std::string assignment;           ///< "v = in[i];"; empty if it has no initial value.
};

/// An atomic that reserves places, with the code that uses them.
struct CounterPush {
    analysis::ExprId call = analysis::noId;
    analysis::ExprId address = analysis::noId;
    analysis::ExprId amount = analysis::noId; ///< How many places a thread takes; noId: one.
    bool isSubtraction = false;
    std::string function;        ///< The atomic that updates the counter: "atomicAdd".
    std::string element;         ///< "unsigned int"
    std::string counter;         ///< Name of the variable.
    bool hasFixedAmount = false; ///< The amount is a small constant.
    bool isCombined = false;     ///< Compilers combine the updates of a warp.
    /// The statements from the one with the atomic to the end of its block, which run after all
    /// threads of the block have their places.
    std::vector<analysis::StmtId> behind;
    analysis::StmtId outermost = analysis::noId; ///< The statement of the kernel's outermost block.
    std::vector<EarlyReturn> earlyReturns;
    std::vector<KeptLocal> kept;
    LaunchedThreads launched;
    LaneForm lanes = LaneForm::AlongX;
};

/// Finds the push at the cursor, else the first that fits. Refuses with `no-atomic`,
/// `result-unused`, `not-a-counter`, `element-type`, `not-global`, `counter-differs`,
/// `used-beside`, `orders-memory`, `one-thread-updates`, `in-loop`, `in-condition`, `work-behind`,
/// `waits-behind`, `reads-written`, `declaration`, `early-exit`, `from-macro`,
/// `several-statements-a-line`, `partial-warps`, `unknown-block`, `may-alias`.
[[nodiscard]] Gated<CounterPush> findCounterPush(const SkillContext& context);

} // namespace kernelskill::skills
