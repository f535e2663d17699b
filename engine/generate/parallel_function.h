/// A host function as a sequence of parallel nests with scalar work of the host between them.
#pragma once

#include "engine/generate/parallel_nest.h"

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct ParallelFunction {
    std::vector<ParallelNest> nests; ///< In the order of the source.
    /// Statements of the function's own block, in order: `for`s of nests and what the host does;
    /// the value that it returns is not among them.
    std::vector<analysis::StmtId> statements;
    analysis::ExprId returned = analysis::noId; ///< What it returns at its end.
    std::string resultType;                     ///< Of that: "float".
    std::vector<ArrayUse> arrays;               ///< Of all nests: what the GPU needs.
    std::vector<std::string> apart; ///< Arrays that are taken not to overlap; empty: none need be.
    RoundsBySymbol rounds;          ///< What symbols in extents stand for that are no parameters.

    /// One nest without reductions, nothing but declarations in front of it: all of the function
    /// fits into one kernel.
    bool isOneKernel = false;

    /// The nest that begins with `statement`; null for a statement of the host.
    [[nodiscard]] const ParallelNest* nestAt(analysis::StmtId statement) const;
};

/// Refuses what is not proved, the first thing first. Cheap enough for each cursor move.
[[nodiscard]] std::expected<ParallelFunction, skills::Refusal>
findParallelFunction(const analysis::FileModel& file, const analysis::KernelModel& function);

} // namespace kernelskill::engine
