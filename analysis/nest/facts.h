/// Facts about the integers of a nest, from loops and guards, and proofs from them.
#pragma once

#include "analysis/nest/nest.h"

#include <vector>

namespace kernelskill::analysis {

/// Each expression is at least zero.
using NestFacts = std::vector<IndexExpression>;

/// The facts that hold where the node runs, from loops and guards around it and the block's size.
[[nodiscard]] NestFacts factsAt(const Nest& nest, NestNodeId node);
/// Adds the facts that hold where `condition` does.
void addFacts(const Nest& nest, const NestCondition& condition, NestFacts& facts);
/// Adds the bounds that the loop's header puts on its iterator.
void addFacts(const NestLoop& loop, NestFacts& facts);

/// Whether `expression` >= 0 was found to follow; false: not found. Bounded work.
[[nodiscard]] bool isProved(const Nest& nest, const NestFacts& facts,
                            const IndexExpression& expression);

} // namespace kernelskill::analysis
