/// How a loop counts, from its header.
#pragma once

#include "analysis/queries/code_map.h"
#include "engine/generate/iteration_space.h"

#include <map>
#include <optional>

namespace kernelskill::engine {

/// Rounds of a loop that no polynomial of its bounds gives: `distance / step`, rounded up.
struct SteppedRounds {
    analysis::IndexExpression distance;
    std::int64_t step = 1;
};
using RoundsBySymbol = std::map<analysis::Symbol, SteppedRounds>;

/// The range of loop number `number`, when it counts up or down by a constant between bounds that
/// are polynomials, which are taken not to change while it runs. With a step other than one they
/// name no variable of another loop.
[[nodiscard]] std::optional<LoopRange> rangeOf(const analysis::KernelModel& function,
                                               const analysis::CodeMap& code, std::uint32_t number);

/// Of every loop that has a symbol for its rounds.
[[nodiscard]] RoundsBySymbol steppedRounds(const analysis::KernelModel& function,
                                           const analysis::CodeMap& code);

/// The rounds of a loop that counts through `distance` by `step`.
[[nodiscard]] std::int64_t roundsIn(std::int64_t distance, std::int64_t step);

} // namespace kernelskill::engine
