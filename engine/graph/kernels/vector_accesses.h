/// Finds the accesses of a map that one instruction can do for several neighbouring elements.
#pragma once

#include "analysis/raise/program.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace kernelskill::engine::graph {

struct VectorAccess {
    analysis::raise::BufferId buffer = 0;
    analysis::raise::Index first; ///< Flattened; a multiple of the width at each first element.
};

struct VectorAccesses {
    std::size_t width = 0; ///< Elements: 16 bytes of the widest type that is accessed so.
    /// Loads outside of the branches of selects that read neighbours; each once.
    std::vector<VectorAccess> loads;
};

/// Finds the vector accesses of a map whose stores all write neighbours along the last axis,
/// aligned to the width. nullopt for any other computation.
[[nodiscard]] std::optional<VectorAccesses>
vectorAccesses(const analysis::raise::Program& program,
               const analysis::raise::Computation& computation);

/// Whether `index` is `axis` plus a multiple of `width` that does not mention the axis.
[[nodiscard]] bool isAlignedAlong(const analysis::raise::Index& index,
                                  const analysis::raise::Axis& axis, std::int64_t width);

/// The loads that are done whatever the conditions of selects are, each node once.
[[nodiscard]] std::vector<const analysis::raise::ScalarNode*>
eagerLoads(const std::vector<analysis::raise::Scalar>& values);
[[nodiscard]] std::vector<const analysis::raise::ScalarNode*>
eagerLoads(const analysis::raise::Computation& computation);

} // namespace kernelskill::engine::graph
