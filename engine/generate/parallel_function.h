/// A host function as a sequence of parallel nests and scalar statements between them.
#pragma once

#include "engine/generate/parallel_nest.h"

#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct ParallelFunction {
    std::vector<ParallelNest> nests; ///< In source order.
    /// Statements of the function's own block in order, without `return`: the `for`s of nests and
    /// the host's statements.
    std::vector<analysis::StmtId> statements;
    analysis::ExprId returned = analysis::noId; ///< The value returned at its end.
    std::string resultType;                     ///< The returned value's type: "float".
    std::vector<ArrayUse> arrays;               ///< Arrays of all nests, which the GPU needs.
    /// Arrays that are assumed not to overlap; empty if no assumption is needed.
    std::vector<std::string> apart;
    RoundsBySymbol rounds; ///< The meaning of symbols in extents that are no parameters.

    /// The function fits into one kernel: it has one nest without reductions, and only declarations
    /// before it.
    bool isOneKernel = false;

    /// The nest that begins with `statement`; null if it is a statement of the host.
    [[nodiscard]] const ParallelNest* nestAt(analysis::StmtId statement) const;
};

/// Refuses with the first property that is not proved. Cheap enough for each cursor move.
[[nodiscard]] std::expected<ParallelFunction, skills::Refusal>
findParallelFunction(const analysis::FileModel& file, const analysis::KernelModel& function);

} // namespace kernelskill::engine
