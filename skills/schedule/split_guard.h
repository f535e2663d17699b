/// Bounds checks around loops that need a barrier of the whole block behind them.
#pragma once

#include "skills/base/skill.h"
#include "skills/schedule/shared_loops.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// The bounds check whose threads have to come to a barrier behind it, and the parts that the code
/// under it falls into: a barrier stands between one part and the next.
struct SplitGuard {
    analysis::StmtId statement = analysis::noId; ///< `if (...) { ... }` or `if (...) return;`.
    bool returnsEarly = false;
    std::string condition;                   ///< Holds for the threads that work.
    std::string opening;                     ///< From "if" to "{", as the file has it.
    analysis::StmtId block = analysis::noId; ///< The compound that holds the loops.
    /// Declarations of the block that later parts use. They move in front of the guard, as they are
    /// or without the value, which is then set in place.
    std::vector<analysis::StmtId> moved;
    std::vector<analysis::StmtId> emptied;
    /// The code behind the last barrier is for the first of the threads alone.
    bool endsAlone = false;
};

/// The loop's values are folded, or its stores seen, across threads.
[[nodiscard]] bool needsBarrier(const LaneLoop& loop);

/// The check to split; nullopt where all threads of a block come to where the barriers are to
/// stand. Refuses with `guard` where they do not and the check is not of that shape, and with
/// `declaration` where a declaration cannot move.
[[nodiscard]] Gated<std::optional<SplitGuard>> splitGuard(const SkillContext& context,
                                                          const SharedLoops& shared);

} // namespace kernelskill::skills
