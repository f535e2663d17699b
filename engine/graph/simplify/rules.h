/// The rules of simplification. Each changes the program where it can, and says what it did.
#pragma once

#include "engine/graph/simplify/simplification.h"

#include <functional>

namespace kernelskill::engine::graph {

/// Whether a kind is used.
using IsUsed = std::function<bool(std::string_view name)>;
using Done = std::vector<Simplification>;

/// known-constants
[[nodiscard]] Done useConstants(analysis::raise::Program& program,
                                const std::map<std::string, double>& constants);
/// reductions-of-one, equal-terms, redundant-bounds, constant-values, self-difference,
/// inverse-functions
[[nodiscard]] Done simplifyValues(analysis::raise::Program& program, const IsUsed& isUsed);
/// batch-norm-folding, scale-into-weights
[[nodiscard]] Done foldScales(analysis::raise::Program& program, const IsUsed& isUsed);
/// sum-over-linear, mean-of-convolution, linear-after-linear, pool-into-convolution
[[nodiscard]] Done swapSums(analysis::raise::Program& program, const IsUsed& isUsed);

/// shifted-variance
[[nodiscard]] Done shiftVariances(analysis::raise::Program& program, const IsUsed& isUsed);

/// Computes what depends on weights alone in steps of its own, so that it can be done once: parts
/// of other computations' values become buffers. The operations are the same.
[[nodiscard]] analysis::raise::Program withPreparedValues(analysis::raise::Program program);

} // namespace kernelskill::engine::graph
