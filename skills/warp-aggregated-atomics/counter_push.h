/// Finds atomics by which threads take places in a common array: `at = atomicAdd(&size, 1)`.
#pragma once

#include "skills/base/skill.h"
#include "skills/gates/block_collective.h"
#include "skills/schedule/contended_updates.h"
#include "skills/schedule/early_return.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A local of the code before the atomic that the code behind it uses.
struct KeptLocal {
    analysis::StmtId declaration = analysis::noId;
    std::vector<std::string> hoisted; ///< "float v = 0.0f;", one a variable.
    std::string assignment;           ///< "v = in[i];"; empty where there is no value.
};

/// A push: the atomic, the code that leads to it, and the code that uses its place.
struct CounterPush {
    analysis::ExprId call = analysis::noId;
    analysis::ExprId address = analysis::noId;
    analysis::ExprId amount = analysis::noId; ///< noId: one.
    bool isSubtraction = false;
    std::string function;        ///< The atomic that updates the counter: "atomicAdd".
    std::string element;         ///< "unsigned int"
    std::string counter;         ///< Name of the variable.
    bool hasFixedAmount = false; ///< The amount is the same small number for all threads.
    bool isCombined = false;     ///< Compilers make one update of those of a warp.
    /// The statements from the one with the atomic to the end of its block: what comes after the
    /// threads have their places.
    std::vector<analysis::StmtId> behind;
    analysis::StmtId outermost = analysis::noId; ///< Of the kernel's own block.
    std::vector<EarlyReturn> earlyReturns;
    std::vector<KeptLocal> kept;
    LaunchedThreads launched;
    LaneForm lanes = LaneForm::AlongX;
};

/// The push at the cursor, else the first that fits. Refuses with `no-atomic`, `result-unused`,
/// `not-a-counter`, `element-type`, `not-global`, `counter-differs`, `used-beside`,
/// `orders-memory`, `one-thread-updates`, `in-loop`, `in-condition`, `work-behind`, `waits-behind`,
/// `reads-written`, `declaration`, `early-exit`, `from-macro`, `several-statements-a-line`,
/// `partial-warps`, `unknown-block`, `may-alias`.
[[nodiscard]] Gated<CounterPush> findCounterPush(const SkillContext& context);

} // namespace kernelskill::skills
