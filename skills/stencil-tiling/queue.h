/// Queues of registers: what a round loads and later rounds need again stays in registers, which
/// move up by one each round.
#pragma once

#include "skills/schedule/draft.h"
#include "skills/stencil-tiling/neighbour_loads.h"

#include <span>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// A group of loads, and the registers that take their place: one for each step, the one of the
/// smallest step first.
struct Queue {
    NeighbourLoads group;
    std::string type;
    std::vector<std::string> names;
    analysis::StmtId place = analysis::noId; ///< The statement that needs them first.

    [[nodiscard]] const std::string& nameOf(int step) const {
        return names.at(static_cast<std::size_t>(step - group.first));
    }
};

struct Queues {
    std::vector<Queue> all;
    int before = 0; ///< Loads of a round, each address once.
    int after = 0;
    [[nodiscard]] std::size_t registers() const;
};

/// Finds the queues for rounds of `statements`, neighbours in a block. Every round reaches the
/// loads of a queue, and nothing in the kernel writes what it holds. Refuses with `no-neighbours`,
/// `unknown-type`, `array-written`, `may-alias`, `unknown-effects`, `early-exit`, `changed-index`,
/// `several-statements-a-line` or `too-many-registers`.
[[nodiscard]] Gated<Queues> queuesOf(const SkillContext& context, const RoundCounter& counter,
                                     std::span<const analysis::StmtId> statements);

/// Returns the lines that declare the registers.
[[nodiscard]] std::vector<std::string> queueDeclarations(const Queues& queues);

/// The expressions by which a round tells whether it is one of the first.
struct FirstRound {
    std::string counter;
    std::string value; ///< The counter's value in the first round.
    std::int64_t step = 1;
};

/// Writes the code that moves the queues in each round and fills them in the first, and reads the
/// registers in place of memory. In a queue that leaves a step out, the first rounds load what they
/// need themselves.
void queue(Draft& draft, const SkillContext& context, const Queues& queues,
           const FirstRound& first);

} // namespace kernelskill::skills
