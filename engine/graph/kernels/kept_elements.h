/// What threads keep of a row between the passes of a row program.
#pragma once

#include "engine/graph/kernels/row_program.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

/// An element of a buffer at each element of a row.
struct KeptLoad {
    analysis::raise::BufferId buffer = 0;
    analysis::raise::Index at;
    bool isVector = false; ///< Neighbours are loaded at once.
};

struct KeptElements {
    std::optional<analysis::raise::Axis> elements; ///< Of the first pass that has some.
    std::size_t width = 1; ///< Elements that vector accesses take; 1: there are none.
    /// What several passes over these elements read, outside of the branches of selects.
    std::vector<KeptLoad> loads;
    /// What a map writes and a later pass reads.
    std::set<analysis::raise::BufferId> results;
    [[nodiscard]] std::size_t count() const { return loads.size() + results.size(); }
};

[[nodiscard]] KeptElements keptElementsOf(const analysis::raise::Program& program,
                                          const RowProgram& rows);

} // namespace kernelskill::engine::graph
