/// Finds the reductions of a counted loop and gives each of them several accumulators.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::skills {

enum class Reduction : std::uint8_t { Sum, Product, Minimum, Maximum };

/// A floating-point local that the loop only folds values into.
struct Accumulator {
    analysis::VariableId variable = analysis::noId;
    Reduction reduction = Reduction::Sum;
    std::string function; ///< "fmaxf" as written, for minimum and maximum.
};

/// The accumulators of `loop`, which it only feeds: at least one. Refuses with why the loop cannot
/// be split, e.g. `no-accumulator`, `writes-memory-in-loop`, `uses-accumulator-in-loop`,
/// `early-exit`.
[[nodiscard]] Gated<std::vector<Accumulator>> findAccumulators(const SkillContext& context,
                                                               const analysis::CodeMap& code,
                                                               const analysis::Loop& loop);

/// Edits that run `factor` rounds at a time, each into an accumulator of its own, and leave the
/// original loop for the remaining rounds. Expects what findAccumulators() has accepted.
[[nodiscard]] std::vector<analysis::TextEdit>
splitAccumulators(const SkillContext& context, const analysis::CodeMap& code,
                  const analysis::Loop& loop, const std::vector<Accumulator>& accumulators,
                  int factor);

/// True if this loop, or the one before it, is what splitAccumulators() or a person has unrolled:
/// the step is above one and the body uses the index plus a constant below the step, or the loop
/// goes on where such a loop stopped.
[[nodiscard]] bool isUnrolledByHand(const analysis::KernelModel& kernel,
                                    const analysis::CodeMap& code, const analysis::Loop& loop);

} // namespace kernelskill::skills
