/// Counts the runs of statements.
#pragma once

#include "analysis/nest/nest.h"
#include "analysis/nest/polyhedra.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kernelskill::analysis {

/// `numerator` / `divisor`, without a rest.
struct NestCount {
    IndexExpression numerator;
    std::int64_t divisor = 1;
    /// False where guards or loops that may stop make it fewer.
    bool isExact = true;
    /// "n*(n - 1)/2" as text.
    [[nodiscard]] std::string describe(const NestSymbols& symbols) const;
};

/// The rounds of the loops around the node, for one thread; those of a loop that threads share are
/// counted once for all of them. A loop is taken to run at least once where it may. nullopt where a
/// bound is not known or rounds have a stride.
[[nodiscard]] std::optional<NestCount> roundsOf(const Nest& nest, NestNodeId node);

/// The number of times that the node runs in the whole launch, by isl: `values` gives gridDim,
/// blockDim on the axes that the kernel names, and each parameter of bounds and guards. nullopt
/// where these leave it open, a condition is not affine, or it takes too long.
[[nodiscard]] std::optional<std::int64_t> runsOf(const Nest& nest, NestNodeId node,
                                                 const std::map<Symbol, std::int64_t>& values,
                                                 Polyhedra& polyhedra);

} // namespace kernelskill::analysis
