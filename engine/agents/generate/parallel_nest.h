/// The loops of a host function that a kernel's threads can take over.
#pragma once

#include "engine/agents/generate/array_extent.h"

#include <expected>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A loop whose iterations become threads.
struct MappedLoop {
    std::uint32_t loop = 0;             ///< Index into KernelModel::loops.
    int axis = 0;                       ///< 0: x. One each.
    analysis::IndexExpression distance; ///< The most it counts through, of parameters alone.
    std::int64_t step = 1;              ///< Positive: a thread has one value of `distance / step`.
};

/// `for`s around each other, outermost first, nothing between them, each proved parallel.
struct ParallelNest {
    std::vector<MappedLoop> loops;              ///< One to three.
    analysis::StmtId body = analysis::noId;     ///< Of the innermost of them.
    std::vector<analysis::StmtId> declarations; ///< In front of the loops.
    std::vector<ArrayUse> arrays;
    RoundsBySymbol rounds;          ///< What symbols in extents stand for that are no parameters.
    std::vector<std::string> apart; ///< Arrays that are taken not to overlap; empty: none need be.
};

/// Refuses what is not proved, the first thing first. Cheap enough for each cursor move.
[[nodiscard]] std::expected<ParallelNest, skills::Refusal>
findParallelNest(const analysis::FileModel& file, const analysis::KernelModel& function);

} // namespace kernelskill::engine
