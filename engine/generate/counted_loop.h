/// Reads from a loop's header how it counts.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/iteration_space.h"

#include <map>
#include <optional>

namespace kernelskill::engine {

/// The iterations of a loop if no polynomial gives them: `distance / step`, rounded up.
struct SteppedRounds {
    analysis::IndexExpression distance;
    std::int64_t step = 1;
};
using RoundsBySymbol = std::map<analysis::Symbol, SteppedRounds>;

/// The range of loop number `number`, if it counts up or down by a constant between polynomial
/// bounds. The bounds are assumed not to change during the loop. With a step other than one they
/// must not use variables of other loops.
[[nodiscard]] std::optional<LoopRange> rangeOf(const analysis::KernelModel& function,
                                               const analysis::CodeMap& code, std::uint32_t number);

/// The entries of all loops that have a symbol for their iterations.
[[nodiscard]] RoundsBySymbol steppedRounds(const analysis::KernelModel& function,
                                           const analysis::CodeMap& code);

/// The iterations of a loop that counts through `distance` by `step`.
[[nodiscard]] std::int64_t roundsIn(std::int64_t distance, std::int64_t step);

} // namespace kernelskill::engine
