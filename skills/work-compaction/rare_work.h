/// Finds work that a condition on the data leaves to some threads of a block.
#pragma once

#include "skills/base/skill.h"

#include <cstdint>
#include <vector>

namespace kernelskill::skills {

/// The form in which the text leaves the work to some threads.
enum class RareForm : std::uint8_t {
    Branch,  ///< `if (condition) { work }`, the last statement
    Returns, ///< `if (!condition) return;`, once or several times, and the work behind
};

/// Work that any thread of the block can do that knows the number of the thread that it is of.
struct RareWork {
    RareForm form = RareForm::Branch;
    std::vector<analysis::StmtId>
        guards; ///< The `if`s, neighbours in the kernel's outermost block.
    analysis::VariableId number =
        analysis::noId;          ///< The thread's number, on which the work depends.
    std::int64_t threads = 1024; ///< The max number of threads of a block.
};

/// Refuses with `no-rare-work` where the kernel does not end in such work, and with
/// `not-data-dependent`, `little-work`, `condition-has-effect`, `uses-thread-value`,
/// `thread-number`, `barrier`, `shared-memory`, `unknown-block`, and what editablePositions()
/// refuses.
[[nodiscard]] Gated<RareWork> findRareWork(const SkillContext& context);

} // namespace kernelskill::skills
