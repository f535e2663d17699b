/// What loops and guards tell of the integers of a nest, and what follows from it.
#pragma once

#include "analysis/nest/nest.h"

#include <vector>

namespace kernelskill::analysis {

/// Each expression is at least zero.
using NestFacts = std::vector<IndexExpression>;

/// What holds where the node runs: from the loops and guards around it and the block's size.
[[nodiscard]] NestFacts factsAt(const Nest& nest, NestNodeId node);
/// What else holds where `condition` does.
void addFacts(const Nest& nest, const NestCondition& condition, NestFacts& facts);
/// What loop headers tell of their iterators.
void addFacts(const NestLoop& loop, NestFacts& facts);

/// Whether `expression` >= 0 was found to follow; false: not found. Bounded work.
[[nodiscard]] bool isProved(const Nest& nest, const NestFacts& facts,
                            const IndexExpression& expression);

} // namespace kernelskill::analysis
