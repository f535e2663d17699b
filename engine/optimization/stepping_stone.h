/// Edits that gain nothing by themselves and are worth building on: two edits may pay only
/// together.
#pragma once

#include "engine/optimization/optimization.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// What speaks for building on an edit, the strongest first.
enum class StepReason : std::uint8_t {
    Opens,          ///< It lets a skill fit that answers the bottleneck and did not fit before.
    Answers,        ///< It answers the bottleneck.
    AnswersFurther, ///< It answers another one that also holds.
    Fits,           ///< It changes what the compiler or the launch may do: a measurement may tell.
    MovesLess,      ///< It is slower, and answers the bottleneck: only counts can speak for it.
};

struct SteppingStone {
    StepReason reason = StepReason::Answers;
    /// How many times as fast as the version that it is compared with: below 1, or little above.
    double speedup = 1;
    /// Its counts are not known yet, and only movesLess() makes it worth building on.
    bool needsCounts = false;
    std::string why; ///< A clause for the attempt's decision.
};

/// Whether the text that `attempt` made, which was not kept, is worth building on. `opened` are the
/// answers that fit it and not the version that it edits. nullopt if it is known to be wrong, or
/// too slow: below 0.9 of the speed before without less asked of memory.
[[nodiscard]] std::optional<SteppingStone>
steppingStoneOf(const Attempt& attempt, const Standing& before, const Standing& after,
                const std::vector<std::string>& opened, bool isMeasured);

/// Whether a text asks memory for fewer sectors or sends fewer requests than the one before it, and
/// for no more of the other, on the same problem.
[[nodiscard]] bool movesLess(const Standing& before, const Standing& after);

} // namespace kernelskill::engine
